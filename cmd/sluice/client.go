package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/config"
)

const (
	governancePath = "/api/governance/v1"
	// callTimeout bounds one call.
	callTimeout = 60 * time.Second
	// answerLimit bounds how much of an answer is read, in bytes.
	answerLimit = 64 << 20
)

// session is a caller's way to a running Sluice.
type session struct {
	token string
	login *clientCredentials // what a token is got with at the first call; nil with a token
	http  *http.Client
}

// apiClient calls one API of a running Sluice.
type apiClient struct {
	*session
	base string // with the API's path
}

// on gives a client of another API of the same Sluice.
func (c *apiClient) on(path string) *apiClient {
	return &apiClient{session: c.session, base: strings.TrimSuffix(c.base, governancePath) + path}
}

func (c *cli) clientFlags(cmd *cobra.Command) {
	c.connectionFlags(cmd)
	c.outputFlag(cmd)
}

func (c *cli) connectionFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.uri, "uri", "", "address of Sluice or of one of its APIs, such as http://127.0.0.1:8181 (SLUICE_URI; default: from bootstrap.json in the data folder)")
	cmd.Flags().StringVar(&c.token, "token", "", "bearer token (SLUICE_TOKEN; default: from bootstrap.json in the data folder)")
	cmd.Flags().StringVar(&c.login.id, "client-id", "", "client id of a principal, to get a token with (SLUICE_CLIENT_ID)")
	cmd.Flags().StringVar(&c.login.secret, "client-secret", "", "its client secret; others may see it in the list of processes, and not in SLUICE_CLIENT_SECRET")
}

// leadingConnectionFlags lets the flags of connectionFlags stand before the command too, where Polaris's own stand.
func (c *cli) leadingConnectionFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	for name, to := range map[string]*string{"uri": &c.uri, "token": &c.token, "client-id": &c.login.id, "client-secret": &c.login.secret} {
		flags.StringVar(to, name, "", "")
		flags.Lookup(name).Hidden = true
	}
}

// refuseConnectionFlags refuses them for a command that calls no server: of others they are flags of their own.
func refuseConnectionFlags(cmd *cobra.Command) error {
	for _, name := range []string{"uri", "token", "client-id", "client-secret"} {
		leading := cmd.Root().PersistentFlags().Lookup(name)
		if leading != nil && leading.Changed && cmd.Flags().Lookup(name) == leading {
			return usageError{fmt.Errorf("unknown flag: --%s", name)}
		}
	}
	return nil
}

// client is one for all calls of a command, so that it authenticates once.
func (c *cli) client() (*apiClient, error) {
	if c.found != nil {
		return c.found, nil
	}
	var err error
	c.found, err = c.findClient()
	return c.found, err
}

// findClient finds out whom to call: flags, else the environment, else the file that a running serve wrote.
func (c *cli) findClient() (*apiClient, error) {
	uri := c.uri
	if uri == "" {
		uri, _ = c.lookupEnv(config.EnvPrefix + "URI")
	}
	s, err := c.session()
	if err != nil {
		return nil, err
	}
	base := ""
	if uri != "" {
		if base, err = governanceBase(uri); err != nil {
			return nil, err
		}
	}
	if known := s.token != "" || s.login != nil; base == "" || !known {
		b, err := runningServe(c.cfg.DataDir)
		switch {
		case err != nil && base != "":
			return nil, fmt.Errorf("no token for %s: give --token or set SLUICE_TOKEN (%w)", uri, err)
		case err != nil:
			return nil, fmt.Errorf("no address and token to call: start `sluice serve`, name its folder with --data, or give --uri and --token (%w)", err)
		case base == "":
			base = b.GovernanceURI
		case !sameServer(base, b.GovernanceURI):
			// A token goes to the server it is for, never to another that only --uri names.
			return nil, usageError{fmt.Errorf("%s is not the serve on %s, whose token goes nowhere else: give --token too", uri, c.cfg.DataDir)}
		}
		if !known {
			s.token = b.Token
		}
	}
	return &apiClient{session: s, base: base}, nil
}

// request makes one with the caller's token. The path's segments are escaped here.
func (c *apiClient) request(ctx context.Context, method string, path []string, query url.Values, body io.Reader) (*http.Request, error) {
	token, err := c.bearer(ctx, c.base)
	if err != nil {
		return nil, err
	}
	target := c.base
	for _, segment := range path {
		target += "/" + url.PathEscape(segment)
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return req, nil
}

// call sends body, if any, and decodes the answer into answer, if wanted.
func (c *apiClient) call(ctx context.Context, method string, path []string, query url.Values, body, answer any) error {
	payload, err := encodeBody(body)
	if err != nil {
		return err
	}
	req, err := c.request(ctx, method, path, query, payload)
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	data, status, err := c.exchange(req)
	if err != nil {
		return err
	}
	if status >= 300 {
		return refusal(status, data)
	}
	return decodeAnswer(data, answer)
}

// exchange sends a request and reads the answer.
func (s *session) exchange(req *http.Request) (body []byte, status int, err error) {
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "sluice-cli")
	to := req.URL.Scheme + "://" + req.URL.Host
	resp, err := s.http.Do(req) //nolint:gosec // the address is the one that the user names
	if err != nil {
		return nil, 0, fmt.Errorf("no answer from %s: is `sluice serve` running and the address right? %w", to, errors.Unwrap(err))
	}
	defer func() { _ = resp.Body.Close() }()
	if body, err = io.ReadAll(io.LimitReader(resp.Body, answerLimit)); err != nil {
		return nil, 0, fmt.Errorf("the answer of %s broke off: %w", to, err)
	}
	return body, resp.StatusCode, nil
}

func encodeBody(body any) (io.Reader, error) {
	if body == nil {
		return http.NoBody, nil
	}
	data, err := json.Marshal(body)
	return bytes.NewReader(data), err
}

func decodeAnswer(data []byte, answer any) error {
	if answer == nil || len(data) == 0 {
		return nil
	}
	if err := decodeJSON(data, answer); err != nil {
		return fmt.Errorf("the answer is not what this sluice understands; is the address a Sluice? %w", err)
	}
	return nil
}

func decodeJSON(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // snapshot ids and counts exceed what a float holds
	return d.Decode(into)
}

// refusal makes an error of the server's own sentence.
func refusal(status int, data []byte) error {
	var problem struct {
		Title, Detail, Message string
		Error                  struct{ Message, Type string }
	}
	_ = json.Unmarshal(data, &problem)
	for _, text := range []string{problem.Detail, problem.Error.Message, problem.Message, problem.Title} {
		if text != "" {
			return &refused{message: printable(text), kind: problem.Error.Type, status: status}
		}
	}
	return &refused{message: "the server said nothing about it", status: status}
}
