package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// rowsShown is how many rows a table shows when nobody says.
const rowsShown = 50

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
	page := q.limit
	if page == 0 {
		page = rowsShown
	}
	q.limit = 0 // a page tells whether there is more, and a limit ends the answer
	body := q.body()
	body["page-size"] = page
	var answer struct {
		Rows   []map[string]any
		Next   *string `json:"next-page-token"`
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
	if err := writeTable(c.out, lines, cols); err != nil {
		return err
	}
	if answer.Next != nil {
		_, _ = fmt.Fprintln(c.errOut, "There is more: give --limit, or -o json for all rows.")
	}
	return nil
}

func (c *cli) rowsWriteCommand() *cobra.Command {
	var mode, label, onViolation, key, format string
	cmd := &cobra.Command{
		Use:   "write TABLE FILE",
		Short: "Write rows, all or none",
		Long: "Writes the rows of FILE (- for standard input) into TABLE: a JSON array, lines of JSON, or an Arrow IPC stream. All of them\n" +
			"land in one commit, or none does. With --mode upsert a row takes the place of the one with the same key, whole:\n" +
			"a column that is left out is NULL then, or its default.",
		Example: "  sluice rows write main.crm.people people.ndjson --mode upsert",
		Args:    usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			media, err := mediaOf(args[1], format)
			if err != nil {
				return usageError{err}
			}
			from, err := openRows(args[1], media)
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
				return inDoubt(err, key)
			}
			defer func() { _ = answer.Body.Close() }()
			raw, err := io.ReadAll(io.LimitReader(answer.Body, answerLimit))
			if err != nil {
				return inDoubt(fmt.Errorf("the answer broke off: %w", err), key)
			}
			return c.showObject(raw, "audit-id", "snapshot-id", "rows", "updated", "superseded", "quarantined")
		},
	}
	cmd.Flags().StringVar(&mode, "mode", "append", "append, or upsert by the table's identifier fields, else its identity columns")
	cmd.Flags().StringVar(&label, "label", "", "what you know the rows to be: public, internal, confidential or restricted")
	cmd.Flags().StringVar(&onViolation, "on-violation", "", "what becomes of a write with rows that may not land: reject all of it, or quarantine those rows (default: reject)")
	cmd.Flags().StringVar(&format, "format", "", "json, ndjson or arrow (default: by the file's name)")
	cmd.Flags().StringVar(&key, "idempotency-key", "", "a UUID under which a repeat has no further effect (default: a new one)")
	c.clientFlags(cmd)
	return cmd
}

// openRows opens what is to be sent. The files that Arrow's libraries call .arrow are most often not streams.
func openRows(name, media string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(os.Stdin), nil
	}
	file, err := os.Open(name) //nolint:gosec // the file that the user names
	if err != nil || media != arrowRows {
		return file, err
	}
	const magic = "ARROW1"
	begins := make([]byte, len(magic))
	if n, _ := file.ReadAt(begins, 0); string(begins[:n]) == magic { // a pipe cannot be read at a place, and is sent as it is
		_ = file.Close()
		return nil, usageError{fmt.Errorf("%s is an Arrow IPC file, and rows are sent as an Arrow IPC stream: write it as one, with pyarrow.ipc.new_stream", name)}
	}
	return file, nil
}

// inDoubt adds to an error of a write that may have landed how one finds out.
func inDoubt(err error, key string) error {
	no, refusal := errors.AsType[*refused](err)
	if refusal && no.status < http.StatusInternalServerError || errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	hint := "; whether the rows landed is told by the same command with --idempotency-key " + key
	if !refusal {
		return fmt.Errorf("%w%s", err, hint)
	}
	no.message = strings.TrimSuffix(no.message, ".") + hint
	return no
}

// mediaOf gives the media type of rows in a file.
func mediaOf(file, format string) (string, error) {
	said := format
	if said == "" {
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
	switch {
	case said != "":
		return "", fmt.Errorf("the format %q is none of json, ndjson and arrow", said)
	case file == "-":
		return "", errors.New("say what standard input holds with --format json, ndjson or arrow")
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
	req, err := api.request(ctx, http.MethodPost, path, query, body)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
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
	var said struct{ Errors []rowProblem }
	problem, ok := errors.AsType[*refused](err)
	if !ok || json.Unmarshal(raw, &said) != nil || len(said.Errors) == 0 {
		return err
	}
	// The sentence ends with the first of them, for who reads nothing else.
	head, _, _ := strings.Cut(problem.message, fmt.Sprintf(": row %d: ", said.Errors[0].Row))
	problem.message, problem.rows = strings.TrimSuffix(head, ".")+".", said.Errors
	return problem
}
