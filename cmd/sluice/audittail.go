package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const (
	// tailPause is how long a stream that broke off is waited for, unless the server says otherwise.
	tailPause = 2 * time.Second
	// eventLimit bounds one event of a stream, in bytes.
	eventLimit = 1 << 20
	// headTimeout bounds the time until a stream begins.
	headTimeout = 15 * time.Second
)

func (c *cli) auditTailCommand() *cobra.Command {
	filters := map[string]*string{}
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Follow the audit: show events as they are sealed, about a second after they are written",
		Long: "Shows audit events as they are sealed, until it is stopped. A connection that breaks is made again, and goes on where\n" +
			"it was. With -o json it writes one object a line.",
		Example: "  sluice audit tail --type table.commit_denied\n  sluice audit tail --type 'finding.*' -o json",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			given := map[string]string{}
			for name, value := range filters {
				given[name] = *value
			}
			return c.tail(cmd.Context(), filled(given))
		},
	}
	for name, usage := range map[string]string{
		"type":      "of this kind, such as table.commit_denied, or of a group, such as finding.*",
		"table":     "on this table: catalog.namespace.table or a table UUID",
		"catalog":   "on this catalog and what is in it",
		"principal": "of this principal",
		"after":     "from the event after this place (seq) on; 0 for all there are (default: from now on)",
	} {
		filters[name] = cmd.Flags().String(name, "", usage)
	}
	c.clientFlags(cmd)
	return cmd
}

// tail follows the stream of events until ctx ends. What can be cured by waiting is waited out.
func (c *cli) tail(ctx context.Context, query url.Values) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	t := &tailing{cli: c, api: api, query: query, pause: tailPause}
	for first := true; ; first = false {
		err := t.follow(ctx)
		switch no, refusal := errors.AsType[*refused](err); {
		case ctx.Err() != nil:
			return nil
		case refusal && no.status == http.StatusUnauthorized && api.login != nil && !first:
			api.token = "" // it expired: log in again
		case refusal && no.status < http.StatusInternalServerError && no.status != http.StatusTooManyRequests, err != nil && first:
			return err
		}
		timer := time.NewTimer(t.pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// tailing is a stream being followed.
type tailing struct {
	*cli
	api    *apiClient
	query  url.Values
	last   string // id of the last event
	pause  time.Duration
	headed bool
}

// follow shows events until the stream ends, which is no error.
func (t *tailing) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	head := time.AfterFunc(headTimeout, cancel)
	resp, err := t.open(ctx)
	if err != nil {
		return err
	}
	head.Stop()
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(io.LimitReader(resp.Body, eventLimit))
		return refusal(resp.StatusCode, data)
	}
	return t.read(resp.Body)
}

func (t *tailing) open(ctx context.Context) (*http.Response, error) {
	token, err := t.api.bearer(ctx, t.api.base)
	if err != nil {
		return nil, err
	}
	target := t.api.base + "/events"
	if len(t.query) > 0 {
		target += "?" + t.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("User-Agent", "sluice-cli")
	if t.last != "" {
		req.Header.Set("Last-Event-ID", t.last)
	}
	endless := *t.api.http
	endless.Timeout = 0          // the stream has no end
	resp, err := endless.Do(req) //nolint:gosec // the address is the one that the user names
	if err != nil {
		return nil, fmt.Errorf("no answer from %s: is `sluice serve` running and the address right? %w", t.api.base, errors.Unwrap(err))
	}
	return resp, nil
}

// read shows the events of a stream as it has them: lines of fields, and an empty line after each event.
func (t *tailing) read(body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, eventLimit)
	var id string
	var data bytes.Buffer
	for lines.Scan() {
		line := lines.Text()
		if line == "" {
			if id != "" {
				t.last = id
			}
			if data.Len() > 0 {
				if err := t.event(data.Bytes()); err != nil {
					return err
				}
			}
			data.Reset()
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			id = value
		case "data":
			if data.Len() > 0 {
				data.WriteByte('\n')
			}
			data.WriteString(value)
		case "retry":
			if ms, err := strconv.Atoi(value); err == nil && ms > 0 {
				t.pause = time.Duration(ms) * time.Millisecond
			}
		}
	}
	return nil // a stream that broke is opened again
}

// event shows one event.
func (t *tailing) event(data []byte) error {
	if t.format == formatJSON {
		_, err := fmt.Fprintf(t.out, "%s\n", data)
		return err
	}
	var row map[string]any
	if err := decodeJSON(data, &row); err != nil {
		return fmt.Errorf("an event is not what this sluice understands: %w", err)
	}
	if !t.headed {
		t.headed = true
		if _, err := fmt.Fprintf(t.out, tailLine, "AT", "EVENT", "ALLOWED", "PRINCIPAL", "TARGET", "SNAPSHOT", "DETAIL"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(t.out, tailLine, cell(row["at"]), cell(row["type"]), cell(row["allowed"]), cell(row["principal"]), cell(row["ref"]),
		cell(row["snapshotId"]), cell(auditDetail(row)))
	return err
}

// tailLine has the columns of audit list. What is to come is not known, so that their widths are fixed.
const tailLine = "%-27s  %-32s  %-7s  %-12s  %-28s  %-19s  %s\n"
