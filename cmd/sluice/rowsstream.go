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
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

// Media types of rows.
const (
	jsonRows   = "application/json"
	ndjsonRows = "application/x-ndjson"
	arrowRows  = "application/vnd.apache.arrow.stream"
)

// streamRows prints each row as a line of JSON, as they come.
func (c *cli) streamRows(ctx context.Context, table string, body map[string]any) error {
	payload, err := json.Marshal(body)
	if err != nil {
		return err
	}
	answer, err := c.sendRows(ctx, []string{"tables", table, "query"}, nil, bytes.NewReader(payload), http.Header{
		"Content-Type": {jsonRows}, "Accept": {ndjsonRows},
	})
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err := io.Copy(c.out, answer.Body); err != nil {
		return fmt.Errorf("the answer broke off, what was printed is not all: %w", err)
	}
	return nil
}

// tableOfRows prints rows in columns.
func (c *cli) tableOfRows(ctx context.Context, table string, q query) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	body := q.body()
	body["page-size"] = max(q.limit, 1)
	if q.limit == 0 {
		return usageError{errors.New("--limit 0 is for -o json: a table is laid out once all of it is there")}
	}
	var answer struct {
		Rows   []map[string]any
		Schema struct {
			Fields []struct{ Name string }
		}
	}
	if err := api.on(dataPath).call(ctx, http.MethodPost, []string{"tables", table, "query"}, nil, body, &answer); err != nil {
		return err
	}
	lines := make([]map[string]any, len(answer.Rows))
	for i, row := range answer.Rows {
		lines[i] = map[string]any{}
		for at, field := range answer.Schema.Fields { // by number: names may have dots, which are paths there
			lines[i][fmt.Sprint(at)] = row[field.Name]
		}
	}
	cols := make(columns, len(answer.Schema.Fields))
	for at, field := range answer.Schema.Fields {
		cols[at] = column{printable(field.Name), fmt.Sprint(at)}
	}
	return writeTable(c.out, lines, cols)
}

func (c *cli) rowsWriteCommand() *cobra.Command {
	var mode, label, onViolation, key, format string
	cmd := &cobra.Command{
		Use:   "write TABLE FILE",
		Short: "Write rows, all or none",
		Long: "Writes the rows of FILE (- for standard input) into TABLE: a JSON array, lines of JSON, or an Arrow IPC stream. All of them\n" +
			"land in one commit, or none does. With --mode upsert a row takes the place of the one with the same identifier fields.",
		Example: "  sluice rows write main.crm.people people.ndjson --mode upsert",
		Args:    usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			media, err := mediaOf(args[1], format)
			if err != nil {
				return usageError{err}
			}
			from, err := c.openRows(args[1])
			if err != nil {
				return err
			}
			defer func() { _ = from.Close() }()
			if key == "" {
				key = uuid.NewString()
			}
			answer, err := c.sendRows(cmd.Context(), []string{"tables", args[0], "write"}, filled(map[string]string{"mode": mode, "label": label, "on-violation": onViolation}), from,
				http.Header{"Content-Type": {media}, "Accept": {jsonRows}, "Idempotency-Key": {key}})
			if err != nil {
				return err
			}
			defer func() { _ = answer.Body.Close() }()
			raw, err := io.ReadAll(io.LimitReader(answer.Body, answerLimit))
			if err != nil {
				return fmt.Errorf("the answer broke off. Whether the rows landed is told by the same command with --idempotency-key %s: %w", key, err)
			}
			return c.showObject(raw, "audit-id", "snapshot-id", "rows", "updated", "superseded", "quarantined")
		},
	}
	cmd.Flags().StringVar(&mode, "mode", "append", "append, or upsert by the table's identifier fields")
	cmd.Flags().StringVar(&label, "label", "", "what you know the rows to be: public, internal, confidential or restricted")
	cmd.Flags().StringVar(&onViolation, "on-violation", "", "what becomes of rows whose content is more sensitive than their columns: reject (all) or quarantine (those)")
	cmd.Flags().StringVar(&format, "format", "", "json, ndjson or arrow (default: by the file's name)")
	cmd.Flags().StringVar(&key, "idempotency-key", "", "a UUID under which a repeat has no further effect (default: a new one)")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) openRows(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(os.Stdin), nil
	}
	return os.Open(name) //nolint:gosec // the file that the user names
}

// mediaOf gives the media type of rows in a file.
func mediaOf(file, format string) (string, error) {
	if format == "" {
		format = strings.TrimPrefix(strings.ToLower(filepath.Ext(file)), ".")
	}
	switch format {
	case "json":
		return jsonRows, nil
	case "ndjson", "jsonl":
		return ndjsonRows, nil
	case "arrow", "arrows":
		return arrowRows, nil
	}
	return "", fmt.Errorf("what %s holds does not show in its name: say it with --format json, ndjson or arrow", file)
}

// sendRows asks for something that is longer than other calls, in either direction, and gives an answer that is no refusal.
func (c *cli) sendRows(ctx context.Context, path []string, query url.Values, body io.Reader, header http.Header) (*http.Response, error) {
	api, err := c.client()
	if err != nil {
		return nil, err
	}
	api = api.on(dataPath)
	token, err := api.bearer(ctx, api.base)
	if err != nil {
		return nil, err
	}
	target := api.base
	for _, segment := range path {
		target += "/" + url.PathEscape(segment)
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, body)
	if err != nil {
		return nil, err
	}
	req.Header = header
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("User-Agent", "sluice-cli")
	long := *api.http
	long.Timeout = time.Hour
	answer, err := long.Do(req) //nolint:gosec // the address is the one that the user names
	if err != nil {
		return nil, fmt.Errorf("no answer from %s: is `sluice serve` running and the address right? %w", api.base, errors.Unwrap(err))
	}
	if answer.StatusCode < 300 {
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }()
	raw, _ := io.ReadAll(io.LimitReader(answer.Body, answerLimit)) // what is missing of a refusal is not said
	return nil, refusalOfRows(answer.StatusCode, raw)
}

// refusalOfRows adds what is wrong with each row.
func refusalOfRows(status int, raw []byte) error {
	err := refusal(status, raw)
	var said struct {
		Errors []struct {
			Row            int64
			Field, Message string
		}
	}
	problem, ok := errors.AsType[*refused](err)
	if !ok || json.Unmarshal(raw, &said) != nil {
		return err
	}
	for _, e := range said.Errors {
		where := fmt.Sprintf("row %d", e.Row)
		if e.Field != "" {
			where += ", " + e.Field
		}
		problem.message += "\n  " + printable(where+": "+e.Message)
	}
	return problem
}

func cutLast(arg string) (name, value string, ok bool) {
	at := strings.LastIndex(arg, "=")
	if at < 1 {
		return "", "", false
	}
	return arg[:at], arg[at+1:], true
}
