package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

const (
	managementPath = "/api/management/v1"
	facadePath     = "/api/catalog/v1"
)

// administer calls the management API.
func (c *cli) administer(ctx context.Context, method string, path []string, body, answer any) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	return api.on(managementPath).call(ctx, method, path, nil, body, answer)
}

// get shows one object of the management API.
func (c *cli) get(ctx context.Context, path []string, first ...string) error {
	var answer json.RawMessage
	if err := c.administer(ctx, http.MethodGet, path, nil, &answer); err != nil {
		return err
	}
	return c.showObject(answer, first...)
}

// whole shows a list of the management API, which has no pages: member of the answer holds it.
func (c *cli) whole(ctx context.Context, path []string, member, nothing string, cols columns) error {
	var answer json.RawMessage
	if err := c.administer(ctx, http.MethodGet, path, nil, &answer); err != nil {
		return err
	}
	if c.format == formatJSON {
		return c.showJSON(answer)
	}
	var lists map[string]json.RawMessage
	if err := decodeAnswer(answer, &lists); err != nil {
		return err
	}
	var rows []map[string]any
	if err := decodeAnswer(lists[member], &rows); err != nil {
		return err
	}
	return c.showRows(rows, nothing, cols)
}

func (c *cli) showRows(rows []map[string]any, nothing string, cols columns) error {
	if len(rows) == 0 {
		_, _ = fmt.Fprintln(c.errOut, nothing)
		return nil
	}
	return writeTable(c.out, rows, cols)
}

// change makes a change by the management API and says that it is made.
func (c *cli) change(ctx context.Context, method string, path []string, body any, format string, args ...any) error {
	var answer json.RawMessage
	if err := c.administer(ctx, method, path, body, &answer); err != nil {
		return err
	}
	said := fmt.Sprintf(format, args...)
	if answer == nil {
		return c.done(map[string]string{"done": said}, "%s.\n", said)
	}
	return c.done(answer, "%s.\n", said)
}

// entity is an object of the management API, of which a change sends all that it does not change.
type entity map[string]any

// modify reads an object, lets change make the body of the update out of it, and sends that. The version that was read
// goes with it, so that what somebody else changed meanwhile is not lost.
func (c *cli) modify(ctx context.Context, path []string, change func(is, update entity) error, format string, args ...any) error {
	var is entity
	if err := c.administer(ctx, http.MethodGet, path, nil, &is); err != nil {
		return err
	}
	update := entity{"currentEntityVersion": is["entityVersion"], "properties": is["properties"]}
	if err := change(is, update); err != nil {
		return err
	}
	return c.change(ctx, http.MethodPut, path, update, format, args...)
}

// propertyFlags are those of commands that change properties.
type propertyFlags struct{ set, remove []string }

func (p *propertyFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&p.set, "set-property", nil, "KEY=VALUE to add or to change; may be given several times")
	cmd.Flags().StringArrayVar(&p.remove, "remove-property", nil, "KEY to remove; may be given several times")
}

// change is for modify.
func (p *propertyFlags) change(is, update entity) error {
	set, err := properties(p.set)
	if err != nil {
		return err
	}
	merged := map[string]any{}
	if old, ok := is["properties"].(map[string]any); ok {
		maps.Copy(merged, old)
	}
	for key, value := range set {
		merged[key] = value
	}
	for _, key := range p.remove {
		delete(merged, key)
	}
	update["properties"] = merged
	return nil
}

func propertyFlag(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringArrayVar(to, "property", nil, "KEY=VALUE; may be given several times. Everybody who may read the object reads it: no secrets")
}

// properties reads KEY=VALUE texts.
func properties(texts []string) (map[string]string, error) {
	props := map[string]string{}
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, usageError{fmt.Errorf("property %q is not KEY=VALUE", text)}
		}
		if _, twice := props[key]; twice {
			return nil, usageError{fmt.Errorf("property %s is given twice", key)}
		}
		props[key] = value
	}
	return props, nil
}

// required makes flags that are needed usage errors where they are missing. Cobra's own way tells of them before it
// tells of a wrong argument, in other words.
func required(cmd *cobra.Command, names ...string) error {
	var missing []string
	for _, name := range names {
		if flag := cmd.Flags().Lookup(name); flag == nil || flag.Value.String() == "" {
			missing = append(missing, "--"+name)
		}
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return usageError{fmt.Errorf("%s is missing", missing[0])}
	}
	return usageError{fmt.Errorf("%s are missing", strings.Join(missing, " and "))}
}
