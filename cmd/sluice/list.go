package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"
)

// listOptions choose a part of a list: it is kept in keyset pages.
type listOptions struct {
	limit int
	after string
	all   bool
}

func (o *listOptions) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&o.limit, "limit", 50, "rows of a page")
	cmd.Flags().StringVar(&o.after, "after", "", "the page after this cursor, which the page before named")
	cmd.Flags().BoolVar(&o.all, "all", false, "every page")
}

type page struct {
	Items []map[string]any `json:"items"`
	Next  string           `json:"next,omitempty"`
}

// list prints a page, or all of them, of the list at path.
func (c *cli) list(ctx context.Context, path []string, query url.Values, o listOptions, cols columns) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	if query == nil {
		query = url.Values{}
	}
	query.Set("limit", strconv.Itoa(o.limit))
	found := page{Items: []map[string]any{}}
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
	if err := writeTable(c.out, found.Items, cols); err != nil {
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
	var answer map[string]any
	if err := api.call(ctx, method, path, nil, body, &answer); err != nil {
		return err
	}
	if answer == nil {
		return nil
	}
	return c.showObject(answer, first...)
}
