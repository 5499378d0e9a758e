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
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/config"
)

const (
	governancePath = "/api/governance/v1"
	// callTimeout bounds one call of the governance API.
	callTimeout = 60 * time.Second
	// answerLimit bounds how much of an answer is read, in bytes.
	answerLimit = 64 << 20
)

// apiClient calls the governance API of a running Sluice.
type apiClient struct {
	base  string // with governancePath
	token string
	http  *http.Client
}

func (c *cli) clientFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.uri, "uri", "", "address of Sluice or of one of its APIs, such as http://127.0.0.1:8181 (SLUICE_URI; default: from bootstrap.json in the data folder)")
	cmd.Flags().StringVar(&c.token, "token", "", "bearer token (SLUICE_TOKEN; default: from bootstrap.json in the data folder)")
	c.outputFlag(cmd)
}

// client finds out whom to call: flags, else the environment, else the file that a running serve wrote.
func (c *cli) client() (*apiClient, error) {
	uri, token := c.uri, c.token
	if uri == "" {
		uri, _ = c.lookupEnv(config.EnvPrefix + "URI")
	}
	if token == "" {
		token, _ = c.lookupEnv(config.EnvPrefix + "TOKEN")
	}
	base := ""
	if uri != "" {
		var err error
		if base, err = governanceBase(uri); err != nil {
			return nil, err
		}
	}
	if base == "" || token == "" {
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
		if token == "" {
			token = b.Token
		}
	}
	return &apiClient{base: base, token: token, http: &http.Client{Timeout: callTimeout}}, nil
}

// call sends body, if any, and decodes the answer into answer, if wanted. The
// path's segments are escaped here.
func (c *apiClient) call(ctx context.Context, method string, path []string, query url.Values, body, answer any) error {
	target := c.base
	for _, segment := range path {
		target += "/" + url.PathEscape(segment)
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	payload, err := encodeBody(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, target, payload)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "sluice-cli")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("no answer from %s: is `sluice serve` running and the address right? %w", c.base, errors.Unwrap(err))
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	if err != nil {
		return fmt.Errorf("the answer of %s broke off: %w", c.base, err)
	}
	if resp.StatusCode >= 300 {
		return refusal(resp, data)
	}
	return decodeAnswer(data, answer)
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
func refusal(resp *http.Response, data []byte) error {
	var problem struct {
		Title, Detail, Message string
		Error                  struct{ Message, Type string }
	}
	_ = json.Unmarshal(data, &problem)
	for _, text := range []string{problem.Detail, problem.Error.Message, problem.Message, problem.Title} {
		if text != "" {
			return &refused{message: printable(text), kind: problem.Error.Type, status: resp.StatusCode}
		}
	}
	return &refused{message: "the server said nothing about it", status: resp.StatusCode}
}
