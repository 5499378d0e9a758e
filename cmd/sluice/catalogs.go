package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

// baseLocationProperty is the property that the management API keeps a catalog's base location in.
const baseLocationProperty = "default-base-location"

func (c *cli) catalogsCommand() *cobra.Command {
	return group("catalogs", "Make, show, change and delete catalogs",
		c.catalogsCreateCommand(), c.catalogsDeleteCommand(), c.catalogsGetCommand(), c.catalogsListCommand(),
		c.catalogsUpdateCommand(), c.catalogsSummarizeCommand())
}

func (c *cli) catalogsCreateCommand() *cobra.Command {
	var kind, storageType, base string
	var allowed, props []string
	cmd := &cobra.Command{
		Use:   "create CATALOG",
		Short: "Make a catalog",
		Long: "Makes CATALOG, whose tables lie under --default-base-location. It gets a role catalog_admin with every right on it,\n" +
			"which the principal role service_admin is given. Options of a kind of storage are for that kind alone.",
		Example: "  sluice catalogs create lake --storage-type s3 --default-base-location s3://bucket/lake --region eu-west-1",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !strings.EqualFold(kind, "internal") {
				return usageError{fmt.Errorf("type %s is not to be had: Sluice has internal catalogs alone", kind)}
			}
			if err := required(cmd, "storage-type", "default-base-location"); err != nil {
				return err
			}
			all, err := properties(props)
			if err != nil {
				return err
			}
			all[baseLocationProperty] = base
			storage := entity{"storageType": strings.ToUpper(storageType), "allowedLocations": append([]string{}, allowed...)}
			if err := addStorage(cmd, storage); err != nil {
				return err
			}
			body := entity{"catalog": entity{"type": "INTERNAL", "name": args[0], "properties": all, "storageConfigInfo": storage}}
			return c.change(cmd.Context(), http.MethodPost, []string{"catalogs"}, body, "Catalog %s is made", args[0])
		},
	}
	cmd.Flags().StringVar(&kind, "type", "internal", "internal: Sluice has no others")
	cmd.Flags().StringVar(&storageType, "storage-type", "", "s3, azure, gcs or file")
	cmd.Flags().StringVar(&base, "default-base-location", "", "where its tables lie")
	cmd.Flags().StringArrayVar(&allowed, "allowed-location", nil, "where tables may lie besides; may be given several times")
	propertyFlag(cmd, &props)
	storageFlags(cmd)
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) catalogsDeleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete CATALOG",
		Short: "Delete an empty catalog with its roles, grants and tokens",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.change(cmd.Context(), http.MethodDelete, []string{"catalogs", args[0]}, nil, "Catalog %s is deleted", args[0])
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) catalogsGetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get CATALOG",
		Short: "Show a catalog",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.get(cmd.Context(), []string{"catalogs", args[0]}, "name", "type", "defaultWritePolicy", "properties", "storageConfigInfo")
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) catalogsListCommand() *cobra.Command {
	var principalRole string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the catalogs that you may see",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if principalRole != "" {
				return c.catalogsOfRole(cmd.Context(), principalRole)
			}
			return c.whole(cmd.Context(), []string{"catalogs"}, "catalogs", "No catalogs.", catalogColumns())
		},
	}
	cmd.Flags().StringVar(&principalRole, "principal-role", "", "those alone in which this principal role has a catalog role")
	c.clientFlags(cmd)
	return cmd
}

func catalogColumns() columns {
	return columns{
		{"CATALOG", "name"}, {"STORAGE", "storageConfigInfo.storageType"}, {"BASE LOCATION", "properties." + baseLocationProperty},
		{"NEW TABLES ARE", "defaultWritePolicy"}, {"VERSION", "entityVersion"},
	}
}

func (c *cli) catalogsOfRole(ctx context.Context, principalRole string) error {
	var all struct {
		Catalogs []map[string]any `json:"catalogs"`
	}
	if err := c.administer(ctx, http.MethodGet, []string{"catalogs"}, nil, &all); err != nil {
		return err
	}
	found := []map[string]any{}
	for _, catalog := range all.Catalogs {
		name, _ := catalog["name"].(string)
		var assigned rolesList
		if err := c.administer(ctx, http.MethodGet, []string{"principal-roles", principalRole, "catalog-roles", name}, nil, &assigned); err != nil {
			return err
		}
		if len(assigned.Roles) > 0 {
			found = append(found, catalog)
		}
	}
	if c.format == formatJSON {
		return c.showJSON(entity{"catalogs": found})
	}
	return c.showRows(found, "No catalogs.", catalogColumns())
}

// rolesList is a list of principal roles or of catalog roles.
type rolesList struct {
	Roles []struct {
		Name       string            `json:"name"`
		Federated  bool              `json:"federated"`
		Properties map[string]string `json:"properties"`
		Version    int64             `json:"entityVersion"`
	} `json:"roles"`
}

func (r rolesList) names() []string {
	names := make([]string, 0, len(r.Roles))
	for _, role := range r.Roles {
		names = append(names, role.Name)
	}
	return names
}

func (c *cli) catalogsUpdateCommand() *cobra.Command {
	var base string
	var allowed []string
	var props propertyFlags
	cmd := &cobra.Command{
		Use:     "update CATALOG",
		Short:   "Change a catalog's properties, locations and storage",
		Long:    "Changes what is given of CATALOG; the rest stays. An allowed location is one more.",
		Example: "  sluice catalogs update lake --allowed-location s3://bucket/landing --set-property owner=data",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.modify(cmd.Context(), []string{"catalogs", args[0]}, func(is, update entity) error {
				if err := props.change(is, update); err != nil {
					return err
				}
				if base != "" {
					update["properties"].(map[string]any)[baseLocationProperty] = base //nolint:forcetypeassert // of change
				}
				return changeStorage(cmd, is, update, allowed)
			}, "Catalog %s is changed", args[0])
		},
	}
	cmd.Flags().StringVar(&base, "default-base-location", "", "where new tables lie")
	cmd.Flags().StringArrayVar(&allowed, "allowed-location", nil, "where tables may lie besides, as one more; may be given several times")
	props.flags(cmd)
	storageFlags(cmd)
	c.clientFlags(cmd)
	return cmd
}

// changeStorage puts the storage of a catalog into its update where flags change it.
func changeStorage(cmd *cobra.Command, is, update entity, allowed []string) error {
	storage, ok := is["storageConfigInfo"].(map[string]any)
	if !ok {
		return errors.New("the server does not say how the catalog is stored; is the address a Sluice?")
	}
	changed := entity(storage)
	if len(allowed) > 0 {
		old, _ := storage["allowedLocations"].([]any)
		for _, location := range allowed {
			old = append(old, location)
		}
		changed["allowedLocations"] = old
	}
	given := storageGiven(cmd)
	if len(given) == 0 && len(allowed) == 0 {
		return nil
	}
	update["storageConfigInfo"] = changed
	return addStorage(cmd, changed)
}

func (c *cli) catalogsSummarizeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "summarize CATALOG",
		Short: "Show what a catalog holds and who may use it",
		Long:  "Counts the namespaces, tables and views of CATALOG that you may see, its roles, and the principal roles that have any of them.",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE:  func(cmd *cobra.Command, args []string) error { return c.summarizeCatalog(cmd.Context(), args[0]) },
	}
	c.clientFlags(cmd)
	return cmd
}
