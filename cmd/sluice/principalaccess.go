package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

// principalAccess is all that a principal's roles hold, in the form of Polaris's own command.
type principalAccess struct {
	Principal      string       `json:"principal"`
	PrincipalRoles []roleAccess `json:"principal_roles"`
}

type roleAccess struct {
	Name         string              `json:"name"`
	CatalogRoles []catalogRoleAccess `json:"catalog_roles"`
}

type catalogRoleAccess struct {
	Name       string        `json:"name"`
	Catalog    string        `json:"catalog"`
	Privileges []grantAnswer `json:"privileges"`
}

// grantAnswer is a grant as the management API has it.
type grantAnswer struct {
	Type      string   `json:"type"`
	Namespace []string `json:"namespace,omitempty"`
	TableName string   `json:"tableName,omitempty"`
	ViewName  string   `json:"viewName,omitempty"`
	Privilege string   `json:"privilege"`
}

// on names what the grant is on.
func (g grantAnswer) on(catalog string) string {
	parts := append([]string{catalog}, g.Namespace...)
	if name := g.TableName + g.ViewName; name != "" {
		parts = append(parts, name)
	}
	return strings.Join(parts, ".")
}

type grantsList struct {
	Grants []grantAnswer `json:"grants"`
}

func (c *cli) principalsAccessCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "access PRINCIPAL",
		Short: "Show the roles of a principal and every grant they hold",
		Long:  "Shows every grant that PRINCIPAL has, by which of its roles. `sluice can` tells of one privilege, with what implies it.",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			access, err := c.accessOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if c.format == formatJSON {
				return c.showJSON(access)
			}
			return c.showRows(access.rows(), "No principal roles.", columns{
				{"PRINCIPAL ROLE", "role"}, {"CATALOG ROLE", "catalogRole"}, {"PRIVILEGE", "privilege"}, {"KIND", "type"}, {"ON", "on"},
			})
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) accessOf(ctx context.Context, principal string) (principalAccess, error) {
	access := principalAccess{Principal: principal, PrincipalRoles: []roleAccess{}}
	client, err := c.client()
	if err != nil {
		return access, err
	}
	api := client.on(managementPath)
	var roles rolesList
	if err := api.call(ctx, http.MethodGet, []string{"principals", principal, "principal-roles"}, nil, nil, &roles); err != nil {
		return access, err
	}
	var catalogs struct {
		Catalogs []catalogState `json:"catalogs"`
	}
	if err := api.call(ctx, http.MethodGet, []string{"catalogs"}, nil, nil, &catalogs); err != nil {
		return access, err
	}
	for _, name := range roles.names() {
		role := roleAccess{Name: name, CatalogRoles: []catalogRoleAccess{}}
		for _, catalog := range catalogs.Catalogs {
			some, err := api.accessIn(ctx, name, catalog.Name)
			if err != nil {
				return access, err
			}
			role.CatalogRoles = append(role.CatalogRoles, some...)
		}
		access.PrincipalRoles = append(access.PrincipalRoles, role)
	}
	return access, nil
}

// accessIn gives the catalog roles of one catalog that a principal role has.
func (c *apiClient) accessIn(ctx context.Context, principalRole, catalog string) ([]catalogRoleAccess, error) {
	var assigned rolesList
	if err := c.call(ctx, http.MethodGet, []string{"principal-roles", principalRole, "catalog-roles", catalog}, nil, nil, &assigned); err != nil {
		return nil, err
	}
	var out []catalogRoleAccess
	for _, role := range assigned.names() {
		held := grantsList{Grants: []grantAnswer{}}
		if err := c.call(ctx, http.MethodGet, []string{"catalogs", catalog, "catalog-roles", role, "grants"}, nil, nil, &held); err != nil {
			return nil, err
		}
		out = append(out, catalogRoleAccess{Name: role, Catalog: catalog, Privileges: held.Grants})
	}
	return out, nil
}

// rows has a row for each grant, and one for what holds none.
func (a principalAccess) rows() []map[string]any {
	var rows []map[string]any
	for _, role := range a.PrincipalRoles {
		if len(role.CatalogRoles) == 0 {
			rows = append(rows, map[string]any{"role": role.Name})
		}
		for _, catalogRole := range role.CatalogRoles {
			row := map[string]any{"role": role.Name, "catalogRole": catalogRole.Catalog + "." + catalogRole.Name}
			if len(catalogRole.Privileges) == 0 {
				rows = append(rows, row)
			}
			for _, g := range catalogRole.Privileges {
				rows = append(rows, map[string]any{
					"role": row["role"], "catalogRole": row["catalogRole"], "privilege": g.Privilege, "type": g.Type, "on": g.on(catalogRole.Catalog),
				})
			}
		}
	}
	return rows
}
