package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// listOptions choose a part of a list: it is kept in keyset pages.
type listOptions struct {
	limit int
	after string
	all   bool
	api   string // path of the API that has the list, "" for governance

	prepare func(row map[string]any) // adds to a row what a table shows and the server does not say; may be nil
}

func (o *listOptions) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&o.limit, "limit", 50, "rows of a page")
	cmd.Flags().StringVar(&o.after, "after", "", "the page after this cursor, which the page before named")
	cmd.Flags().BoolVar(&o.all, "all", false, "every page")
}

// page is a part of a list. Items are as the server wrote them, with the order of their keys.
type page struct {
	Items []json.RawMessage `json:"items"`
	Next  string            `json:"next,omitempty"`
}

// list prints a page, or all of them, of the list at path.
func (c *cli) list(ctx context.Context, path []string, query url.Values, o listOptions, cols columns) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	if o.api != "" {
		api = api.on(o.api)
	}
	if query == nil {
		query = url.Values{}
	}
	query.Set("limit", strconv.Itoa(o.limit))
	found := page{Items: []json.RawMessage{}}
	for after := o.after; ; after = found.Next {
		if after != "" {
			query.Set("after", after)
		}
		var one page
		if err := api.call(ctx, http.MethodGet, path, query, nil, &one); err != nil {
			return err
		}
		found.Items, found.Next = append(found.Items, one.Items...), one.Next
		if !o.all || one.Next == "" || one.Next == after {
			break
		}
	}
	if c.format == formatJSON {
		return c.showJSON(found)
	}
	return c.showPage(found, path[max(len(path)-1, 0)], o, cols)
}

func (c *cli) showPage(found page, path string, o listOptions, cols columns) error {
	if len(found.Items) == 0 && found.Next == "" {
		_, _ = fmt.Fprintf(c.errOut, "No %s.\n", strings.ReplaceAll(strings.ReplaceAll(path, "audit", "events"), "-", " "))
		return nil
	}
	rows := make([]map[string]any, len(found.Items))
	for i, item := range found.Items {
		if err := decodeJSON(item, &rows[i]); err != nil {
			return err
		}
		if o.prepare != nil {
			o.prepare(rows[i])
		}
	}
	if err := writeTable(c.out, rows, cols); err != nil {
		return err
	}
	if found.Next != "" {
		_, _ = fmt.Fprintf(c.errOut, "There is more: --after %s, or --all.\n", found.Next)
	}
	return nil
}

// object calls and prints the one object answered.
func (c *cli) object(ctx context.Context, method string, path []string, body any, first ...string) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var answer json.RawMessage
	if err := api.call(ctx, method, path, nil, body, &answer); err != nil {
		return err
	}
	if answer == nil {
		return nil
	}
	return c.showObject(answer, first...)
}

// filled makes a query of the filters that are given.
func filled(filters map[string]string) url.Values {
	query := url.Values{}
	for name, value := range filters {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}
