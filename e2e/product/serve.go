package product

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// Bootstrap is bootstrap.json, by which scripts find a running serve.
type Bootstrap struct {
	CatalogURI      string `json:"catalogUri"`
	GovernanceURI   string `json:"governanceUri"`
	TemporalAddress string `json:"temporalAddress"`
	Catalog         string `json:"catalog"`
	ClientID        string `json:"clientId"`
	ClientSecret    string `json:"clientSecret"`
	Token           string `json:"token"`
}

// Serve starts `sluice serve` on a data folder and any free ports. It does not wait: see Ready.
func Serve(binary, folder, log string, env []string, args ...string) (*Process, error) {
	// A killed serve leaves the file of its last start behind; its going and coming back tells that this one is ready.
	if err := os.Remove(bootstrapFile(folder)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	// Writers here make their files themselves, so the warehouse is a folder.
	all := append([]string{
		"serve", "--data", folder, "--listen", "127.0.0.1:0", "--temporal-port", "0", "--ui-port", "0", "--warehouse", filepath.Join(folder, "warehouse"),
	}, args...)
	return Start(binary, env, log, all...)
}

// Ready waits until a serve on the folder works, and gives a client of root's.
func (p *Process) Ready(ctx context.Context, folder string) (*Client, error) {
	var c *Client
	err := p.waitUntil(ctx, "serve is not ready", func() error {
		b, err := ReadBootstrap(folder)
		if err != nil {
			return err
		}
		c = NewClient(b.CatalogURI, b.GovernanceURI, b.Catalog, b.Token)
		return c.Healthy(ctx)
	})
	return c, err
}

// Listening waits until an api or worker answers on an address.
func (p *Process) Listening(ctx context.Context, address string) error {
	return p.waitUntil(ctx, "sluice does not answer", func() error { return getOK(ctx, "http://"+address+"/healthz") })
}

// ReadBootstrap reads a data folder's bootstrap.json.
func ReadBootstrap(folder string) (Bootstrap, error) {
	var b Bootstrap
	data, err := os.ReadFile(bootstrapFile(folder))
	if err != nil {
		return b, err
	}
	return b, json.Unmarshal(data, &b)
}

func bootstrapFile(folder string) string { return filepath.Join(folder, "bootstrap.json") }

// FreeAddress gives a free host:port, for programs that must know it before they start.
func FreeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Healthy asks /readyz.
func (c *Client) Healthy(ctx context.Context) error {
	base, _, _ := strings.Cut(c.catalogURI, "/api/")
	return getOK(ctx, base+"/readyz")
}

func getOK(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}
