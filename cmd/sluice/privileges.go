package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// granting is `sluice privileges`: its flags may stand before or after the words for the kind of object.
type granting struct {
	*cli
	catalog, catalogRole, namespace, table, view string
}

// grantScope is the part of the command for one kind of object.
type grantScope struct {
	*granting
	scope models.GrantScope
}

func (c *cli) privilegesCommand() *cobra.Command {
	g := &granting{cli: c}
	cmd := group("privileges", "Grant privileges to catalog roles, revoke and list them",
		g.privilegesListCommand(), g.privilegesCatalogCommand(), g.privilegesNamespaceCommand(), g.privilegesTableCommand(), g.privilegesViewCommand())
	flags := cmd.PersistentFlags()
	flags.StringVar(&g.catalog, "catalog", "", "the catalog")
	flags.StringVar(&g.catalogRole, "catalog-role", "", "the catalog role that has the privilege")
	flags.StringVar(&g.namespace, "namespace", "", "the namespace, its levels separated by dots")
	flags.StringVar(&g.table, "table", "", "the table in it")
	flags.StringVar(&g.view, "view", "", "the view in it")
	return cmd
}

func (g *granting) privilegesListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List what a catalog role holds",
		Example: "  sluice privileges list --catalog main --catalog-role ingest",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "catalog", "catalog-role"); err != nil {
				return err
			}
			if g.format == formatJSON {
				return g.whole(cmd.Context(), g.grantsPath(), "grants", "", nil)
			}
			var held grantsList
			if err := g.administer(cmd.Context(), http.MethodGet, g.grantsPath(), nil, &held); err != nil {
				return err
			}
			rows := make([]map[string]any, 0, len(held.Grants))
			for _, grant := range held.Grants {
				rows = append(rows, map[string]any{"privilege": grant.Privilege, "type": grant.Type, "on": grant.on(g.catalog)})
			}
			return g.showRows(rows, "No privileges.", columns{{"PRIVILEGE", "privilege"}, {"KIND", "type"}, {"ON", "on"}})
		},
	}
	g.clientFlags(cmd)
	return cmd
}

func (g *granting) grantsPath() []string {
	return []string{"catalogs", g.catalog, "catalog-roles", g.catalogRole, "grants"}
}

func (g *granting) privilegesCatalogCommand() *cobra.Command {
	s := grantScope{g, models.OnCatalog}
	return group("catalog", "Privileges on a catalog and all that it holds", s.privilegesGrantCommand(), s.privilegesRevokeCommand())
}

func (g *granting) privilegesNamespaceCommand() *cobra.Command {
	s := grantScope{g, models.OnNamespace}
	return group("namespace", "Privileges on a namespace and all that it holds", s.privilegesGrantCommand(), s.privilegesRevokeCommand())
}

func (g *granting) privilegesTableCommand() *cobra.Command {
	s := grantScope{g, models.OnTable}
	return group("table", "Privileges on a table", s.privilegesGrantCommand(), s.privilegesRevokeCommand())
}

func (g *granting) privilegesViewCommand() *cobra.Command {
	s := grantScope{g, models.OnView}
	return group("view", "Privileges on a view", s.privilegesGrantCommand(), s.privilegesRevokeCommand())
}

func (s grantScope) privilegesGrantCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "grant PRIVILEGE",
		Short:   "Give a catalog role a privilege on a " + string(s.scope),
		Long:    fmt.Sprintf("Gives a catalog role PRIVILEGE on a %s. There are:\n%s", s.scope, s.privilegeNames()),
		Example: s.example("grant"),
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := s.grant(cmd, args[0])
			if err != nil {
				return err
			}
			return s.change(cmd.Context(), http.MethodPut, s.grantsPath(), body, "Catalog role %s.%s has %s on %s", s.catalog, s.catalogRole, args[0], s.object())
		},
	}
	s.clientFlags(cmd)
	return cmd
}

func (s grantScope) privilegesRevokeCommand() *cobra.Command {
	var cascade bool
	cmd := &cobra.Command{
		Use:     "revoke PRIVILEGE",
		Short:   "Take a privilege on a " + string(s.scope) + " from a catalog role",
		Long:    fmt.Sprintf("Takes PRIVILEGE on a %s from a catalog role, at once. With --cascade it is taken from all that the %s holds too.", s.scope, s.scope),
		Example: s.example("revoke"),
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := s.grant(cmd, args[0])
			if err != nil {
				return err
			}
			api, err := s.client()
			if err != nil {
				return err
			}
			query := url.Values{}
			if cascade {
				query.Set("cascade", "true")
			}
			if err := api.on(managementPath).call(cmd.Context(), http.MethodPost, s.grantsPath(), query, body, nil); err != nil {
				return err
			}
			return s.done(body, "Catalog role %s.%s no longer has %s on %s.\n", s.catalog, s.catalogRole, args[0], s.object())
		},
	}
	cmd.Flags().BoolVar(&cascade, "cascade", false, "take it from all that lies within, too")
	s.clientFlags(cmd)
	return cmd
}

// flagsNeeded names the flags that say which object is meant.
func (s grantScope) flagsNeeded() []string {
	switch s.scope {
	case models.OnNamespace:
		return []string{"namespace"}
	case models.OnTable, models.OnView:
		return []string{"namespace", string(s.scope)}
	case models.OnCatalog:
	}
	return nil
}

// grant makes the body of a request out of the flags, and refuses flags of other kinds of objects.
func (s grantScope) grant(cmd *cobra.Command, privilege string) (entity, error) {
	needed := append([]string{"catalog", "catalog-role"}, s.flagsNeeded()...)
	if err := required(cmd, needed...); err != nil {
		return nil, err
	}
	for _, flag := range []string{"namespace", "table", "view"} {
		if cmd.Flags().Changed(flag) && !slices.Contains(needed, flag) {
			return nil, usageError{fmt.Errorf("--%s does not go with privileges on a %s", flag, s.scope)}
		}
	}
	if !slices.Contains(policy.Grantable(s.scope), models.Privilege(privilege)) {
		return nil, usageError{fmt.Errorf("%q is not a privilege on a %s: `%s --help` lists them", privilege, s.scope, cmd.CommandPath())}
	}
	g := grantAnswer{Type: string(s.scope), Privilege: privilege, TableName: s.table, ViewName: s.view}
	if s.namespace != "" {
		g.Namespace = strings.Split(s.namespace, ".")
	}
	return entity{"grant": g}, nil
}

// object names what the privilege is on.
func (s grantScope) object() string {
	parts := []string{s.catalog}
	for _, part := range []string{s.namespace, s.table, s.view} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return string(s.scope) + " " + strings.Join(parts, ".")
}

func (s grantScope) example(verb string) string {
	line := "  sluice privileges " + string(s.scope) + " " + verb + " --catalog main --catalog-role ingest"
	for _, flag := range s.flagsNeeded() {
		line += " --" + flag + " " + map[string]string{"namespace": "events", "table": "clicks", "view": "daily"}[flag]
	}
	privileges := map[models.GrantScope]models.Privilege{
		models.OnCatalog: models.TableReadData, models.OnNamespace: models.TableWriteData, models.OnTable: models.TableWriteData, models.OnView: models.ViewReadProperties,
	}
	return line + " " + string(privileges[s.scope])
}

// privilegeNames lists what can be granted, some to a line.
func (s grantScope) privilegeNames() string {
	var lines []string
	line := ""
	for _, p := range policy.Grantable(s.scope) {
		if len(line)+len(p) > 110 {
			lines, line = append(lines, line), ""
		}
		line += " " + string(p)
	}
	return strings.Join(append(lines, line), "\n")
}
