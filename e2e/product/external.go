package product

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// readyWithin bounds the start of an api or worker.
const readyWithin = time.Minute

// External is an installation of separate programs: a database by URL, a warehouse folder, and Temporal by address.
type External struct {
	Binary, Folder  string // the folder gets the warehouse and the logs
	DatabaseURL     string
	TemporalAddress string
	Env             []string // further settings of the programs

	token string // of root, once prepared
}

// Prepare makes the schema, root and the catalog main.
func (e *External) Prepare(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(e.Folder, "warehouse"), 0o700); err != nil {
		return err
	}
	if _, err := e.Run(ctx, "migrate"); err != nil {
		return err
	}
	out, err := e.Run(ctx, "root", "create", "-o", "json")
	if err != nil {
		return err
	}
	var root struct {
		Token string `json:"token"`
	}
	err = json.Unmarshal(out, &root)
	e.token = root.Token
	return err
}

// API starts `sluice api`, waits until it serves, and gives root's client of it.
func (e *External) API(ctx context.Context) (*Process, *Client, error) {
	p, address, err := e.start(ctx, "api")
	if err != nil {
		return nil, nil, err
	}
	base := "http://" + address + "/api"
	c := NewClient(base+"/catalog", base+"/governance/v1", "main", e.token)
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	if err := p.waitUntil(ctx, "the api is not ready", func() error { return c.Healthy(ctx) }); err != nil {
		p.Kill()
		return nil, nil, err
	}
	return p, c, nil
}

// Worker starts `sluice worker`.
func (e *External) Worker(ctx context.Context) (*Process, error) {
	p, _, err := e.start(ctx, "worker")
	return p, err
}

func (e *External) start(ctx context.Context, command string) (*Process, string, error) {
	address, err := FreeAddress(ctx)
	if err != nil {
		return nil, "", err
	}
	p, err := Start(e.Binary, e.env(), filepath.Join(e.Folder, command+".log"), command, "--listen", address)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	if err := p.Listening(ctx, address); err != nil {
		p.Kill()
		return nil, "", err
	}
	return p, address, nil
}

// Run runs a command of the program on the installation's database, and gives what it printed.
func (e *External) Run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, e.Binary, args...)
	cmd.Env = append(os.Environ(), e.env()...)
	out, err := cmd.Output()
	if err != nil {
		detail := ""
		if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // as Output gives it
			detail = string(exit.Stderr)
		}
		return nil, fmt.Errorf("sluice %s: %w: %s%s", strings.Join(args, " "), err, out, detail)
	}
	return out, nil
}

// encryptionKeys are of no installation but those that tests make.
const encryptionKeys = "test:c2x1aWNlIHRlc3RzIG9ubHksIDMyIGJ5dGVzIGxvbmc="

func (e *External) env() []string {
	env := []string{
		"SLUICE_DATABASE_URL=" + e.DatabaseURL, "SLUICE_WAREHOUSE=" + filepath.Join(e.Folder, "warehouse"),
		"SLUICE_ENCRYPTION_KEYS=" + encryptionKeys,
	}
	if e.TemporalAddress != "" {
		env = append(env, "SLUICE_TEMPORAL_ADDRESS="+e.TemporalAddress)
	}
	return append(env, e.Env...)
}
