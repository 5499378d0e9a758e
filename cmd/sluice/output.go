package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// The output formats.
const (
	formatTable = "table"
	formatJSON  = "json"
)

// column is one column of a table: its heading, and the dotted path of its value in a row.
type column struct{ heading, path string }

type columns []column

func (c *cli) outputFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&c.format, "output", "o", formatTable, "table or json")
	check := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if c.format != formatTable && c.format != formatJSON {
			return usageError{fmt.Errorf("output %q is neither table nor json", c.format)}
		}
		if check != nil {
			return check(cmd, args)
		}
		return nil
	}
}

// show prints rows, a slice of structs, in the chosen format.
func (c *cli) show(rows any, cols columns) error {
	if c.format == formatJSON {
		return c.showJSON(rows)
	}
	data, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	var plain []map[string]any
	if err := decodeJSON(data, &plain); err != nil {
		return err
	}
	return writeTable(c.out, plain, cols)
}

func (c *cli) showJSON(v any) error {
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// showObject prints one object: as JSON with its own order of keys, or a line per field in order of the names given,
// then the rest by name.
func (c *cli) showObject(object json.RawMessage, first ...string) error {
	if c.format == formatJSON {
		return c.showJSON(object)
	}
	var fields map[string]any
	if err := decodeJSON(object, &fields); err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.out, 0, 8, 2, ' ', 0)
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), func(k string) bool { return slices.Contains(first, k) })
	for _, key := range append(slices.Clone(first), rest...) {
		if v, ok := fields[key]; ok {
			_, _ = fmt.Fprintf(w, "%s\t%s\n", key, fieldCell(key, v))
		}
	}
	return w.Flush()
}

// fieldCell gives a field's value; what is said of columns is given in the form that classify takes.
func fieldCell(key string, v any) string {
	if millis, ok := v.(json.Number); ok && strings.HasSuffix(key, "Timestamp") {
		if ms, err := millis.Int64(); err == nil {
			return time.UnixMilli(ms).UTC().Format(time.RFC3339)
		}
	}
	governed, ok := v.(map[string]any)
	if ok && slices.Contains([]string{"cadence", "credential", "watermark"}, key) {
		return cell(strings.Join(members(governed, ""), ", "))
	}
	if key != "columns" || !ok {
		return cell(v)
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(governed)) {
		column, _ := governed[name].(map[string]any)
		said := make([]string, 0, 3)
		for _, part := range []string{"sensitivity", "tag", "mask"} {
			text, _ := lookup(column, part).(string)
			said = append(said, text)
		}
		lines = append(lines, printable(name+"="+strings.TrimRight(strings.Join(said, ":"), ":")))
	}
	return cell(strings.Join(lines, ", "))
}

// members gives what is said in an object for who reads it in a line, with the names of what it is within: what is null says
// nothing.
func members(of map[string]any, within string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		switch v := of[name].(type) {
		case nil:
		case map[string]any:
			out = append(out, members(v, within+name+" ")...)
		default:
			out = append(out, within+name+" "+cell(v))
		}
	}
	return out
}

func writeTable(out io.Writer, rows []map[string]any, cols columns) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	line := make([]string, len(cols))
	for i, col := range cols {
		line[i] = col.heading
	}
	_, _ = fmt.Fprintln(w, strings.Join(line, "\t"))
	for _, row := range rows {
		for i, col := range cols {
			line[i] = cell(lookup(row, col.path))
		}
		_, _ = fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	return w.Flush()
}

func lookup(row map[string]any, path string) any {
	name, rest, nested := strings.Cut(path, ".")
	if !nested {
		return row[name]
	}
	inner, _ := row[name].(map[string]any)
	return lookup(inner, rest)
}

// cell gives a value on one line; control characters cannot reach the terminal.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return printable(v)
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case json.Number:
		return v.String()
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = cell(v[i])
		}
		return printable(strings.Join(items, ","))
	case map[string]any:
		if len(v) == 0 {
			return "-"
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return printable(string(b))
}

func printable(s string) string {
	if s == "" {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}
