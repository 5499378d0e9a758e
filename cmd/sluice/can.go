package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// noError is the answer no: it is said already, and the exit code says it too.
type noError struct{}

// Error is for nobody.
func (noError) Error() string { return "no" }

func (c *cli) canCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "can PRINCIPAL PRIVILEGE [OBJECT]",
		Short: "Say whether a principal holds a privilege, and by which roles and grants",
		Long: "Says whether PRINCIPAL holds PRIVILEGE on OBJECT, which is a catalog, catalog.namespace or catalog.namespace.table,\n" +
			"levels separated by dots; without it the service itself is meant. It shows every way that leads there, or what is missing.\n" +
			"The exit code is 0 for yes and 1 for no. What a table's write policy says comes on top: `sluice policy get` tells it.",
		Example: "  sluice can etl TABLE_WRITE_DATA main.events.clicks",
		Args:    canArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.client()
			if err != nil {
				return err
			}
			query := filled(map[string]string{"principal": args[0], "privilege": args[1]})
			if len(args) > 2 {
				query.Set("object", args[2])
			}
			var answer json.RawMessage
			if err := api.call(cmd.Context(), http.MethodGet, []string{"access"}, query, nil, &answer); err != nil {
				return err
			}
			var e explanation
			if err := decodeAnswer(answer, &e); err != nil {
				return err
			}
			if err := c.done(answer, "%s", e.text(args[0], args[1])); err != nil {
				return err
			}
			if !e.Allowed {
				return noError{}
			}
			return nil
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func canArgs(cmd *cobra.Command, args []string) error {
	if len(args) < 2 || len(args) > 3 {
		return usageArgs(cobra.ExactArgs(3))(cmd, args)
	}
	if !slices.Contains(policy.Privileges(), models.Privilege(args[1])) {
		return usageError{fmt.Errorf("there is no privilege %q: `sluice privileges catalog grant --help` lists them", args[1])}
	}
	if slices.Contains(args, "") {
		return usageError{errors.New("an argument is empty")}
	}
	return nil
}

// explanation is what the server knows of a question.
type explanation struct {
	Allowed      bool     `json:"allowed"`
	Object       string   `json:"object"`
	Scope        string   `json:"scope"`
	Ways         []way    `json:"ways"`
	Roles        []string `json:"roles"`
	CatalogRoles []string `json:"catalogRoles"`
	Advice       string   `json:"advice"`
}

type way struct {
	PrincipalRole string       `json:"principalRole"`
	CatalogRole   string       `json:"catalogRole"`
	Grant         *grantAnswer `json:"grant"`
	On            string       `json:"on"`
	Implies       bool         `json:"implies"`
}

func (e explanation) text(principal, privilege string) string {
	var b strings.Builder
	if !e.Allowed {
		object := "the service"
		if e.Object != "" {
			object = strings.TrimSpace(e.Scope + " " + e.Object)
		}
		fmt.Fprintf(&b, "no: %s does not hold %s on %s\n", printable(principal), privilege, printable(object))
		for _, line := range []struct {
			label string
			names []string
		}{{"its principal roles", e.Roles}, {"their catalog roles there", e.CatalogRoles}} {
			names := "none"
			if len(line.names) > 0 {
				names = strings.Join(line.names, ", ")
			}
			fmt.Fprintf(&b, "    %s: %s\n", line.label, printable(names))
		}
	}
	for i, w := range e.Ways {
		fmt.Fprintf(&b, "%s %s\n", map[bool]string{true: "yes:", false: " or:"}[i == 0], printable(w.text(principal, privilege)))
	}
	if e.Allowed && len(e.Ways) == 0 {
		b.WriteString("yes\n")
	}
	if e.Advice != "" {
		fmt.Fprintf(&b, "    %s\n", printable(e.Advice))
	}
	return b.String()
}

func (w way) text(principal, privilege string) string {
	steps := []string{principal, "role " + w.PrincipalRole}
	if w.CatalogRole != "" {
		steps = append(steps, "catalog role "+w.CatalogRole)
	}
	held := privilege
	if w.Grant != nil {
		held = w.Grant.Privilege + " on " + strings.TrimSpace(w.Grant.Type+" "+w.On)
	} else if w.Implies {
		held = string(models.ServiceManageAccess)
	}
	text := strings.Join(append(steps, held), " → ")
	if w.Implies {
		text += ", which implies " + privilege
	}
	return text
}
