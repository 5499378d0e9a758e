package storetest

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func keys(rows []models.Namespace) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.Key.String()
	}
	return out
}

func namespaceCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a path gives the ancestors, outermost first": func(t *testing.T, f *fixture) {
			f.namespace(t, "sales", "eu")
			leaf := f.namespace(t, "sales", "eu", "2026")
			path, err := f.s.NamespacePath(t.Context(), f.cat.ID, leaf.Key)
			require.NoError(t, err)
			assert.Equal(t, []string{"sales", "sales.eu", "sales.eu.2026"}, keys(path))
			for _, key := range []models.NamespaceKey{"", "nope", models.KeyOf([]string{"sales", "nope"}), "nul\x00"} {
				_, err = f.s.NamespacePath(t.Context(), f.cat.ID, key)
				requireFault(t, err, fault.NotFound, fault.Namespace)
			}
		},
		"only direct children are listed, in byte order, by pages": func(t *testing.T, f *fixture) {
			for _, name := range []string{"b", "B", "a_1", "a-1", "é", "Zeta"} {
				f.namespace(t, "sales", name)
			}
			f.namespace(t, "sales", "b", "deep")
			want := []string{"sales.B", "sales.Zeta", "sales.a-1", "sales.a_1", "sales.b", "sales.é"}
			got, err := f.s.ListNamespaces(t.Context(), f.cat.ID, f.ns.Key, catalog.Page{})
			require.NoError(t, err)
			assert.Equal(t, want, keys(got))
			var paged []string
			for page := (catalog.Page{Limit: 4}); ; {
				rows, err := f.s.ListNamespaces(t.Context(), f.cat.ID, f.ns.Key, page)
				require.NoError(t, err)
				if len(rows) == 0 {
					break
				}
				paged = append(paged, keys(rows)...)
				page.After = string(rows[len(rows)-1].Key)
			}
			assert.Equal(t, want, paged)
			top, err := f.s.ListNamespaces(t.Context(), f.cat.ID, "", catalog.Page{})
			require.NoError(t, err)
			assert.Equal(t, []string{"sales"}, keys(top))
		},
		"namespaces are found by dotted names, which may be ambiguous": func(t *testing.T, f *fixture) {
			f.namespace(t, "sales", "eu")
			f.namespace(t, "sales.eu")
			got, err := f.s.NamespacesNamed(t.Context(), f.cat.ID, []string{"sales.eu", "sales.e", "nul\x00"})
			require.NoError(t, err)
			assert.Empty(t, got)
			got, err = f.s.NamespacesNamed(t.Context(), f.cat.ID, []string{"sales.eu", "sales.e"})
			require.NoError(t, err)
			assert.Equal(t, []string{"sales.eu", "sales.eu"}, keys(got))
			got, err = f.s.AllNamespaces(t.Context(), f.cat.ID)
			require.NoError(t, err)
			assert.Len(t, got, 3)
		},
		"a name is taken once, case counts": func(t *testing.T, f *fixture) {
			f.namespace(t, "Sales")
			err := f.s.CreateNamespace(t.Context(), f.newNamespace("sales"), event(models.AuditNamespaceCreated))
			requireFault(t, err, fault.AlreadyExists, fault.Namespace)
			assert.Len(t, f.audit(t, models.AuditNamespaceCreated), 2)
		},
		"a parent and a catalog must exist": func(t *testing.T, f *fixture) {
			err := f.s.CreateNamespace(t.Context(), f.newNamespace("nope", "x"), event(models.AuditNamespaceCreated))
			requireFault(t, err, fault.NotFound, fault.Namespace)
			orphan := f.newNamespace("x")
			orphan.CatalogID = uuid.NewString()
			err = f.s.CreateNamespace(t.Context(), orphan, event(models.AuditNamespaceCreated))
			requireFault(t, err, fault.NotFound, fault.Catalog)
		},
		"a name with NUL or broken UTF-8 is refused": func(t *testing.T, f *fixture) {
			for _, name := range []string{"a\x00b", "\xff\xfe"} {
				err := f.s.CreateNamespace(t.Context(), f.newNamespace(name), event(models.AuditNamespaceCreated))
				requireFault(t, err, fault.Invalid, fault.NoSubject)
			}
		},
		"an update needs the version it was read at": func(t *testing.T, f *fixture) {
			ns := f.ns
			ns.DefaultWritePolicy = ptr(models.OpenAppend)
			ns.DefaultClassification = ptr(models.Restricted)
			ns.Properties.V = map[string]string{"k": "v"}
			require.NoError(t, f.s.UpdateNamespace(t.Context(), ns, event(models.AuditNamespaceUpdated)))
			requireFault(t, f.s.UpdateNamespace(t.Context(), ns, event(models.AuditNamespaceUpdated)), fault.Conflict, fault.NoSubject)
			path, err := f.s.NamespacePath(t.Context(), f.cat.ID, ns.Key)
			require.NoError(t, err)
			assert.Equal(t, models.OpenAppend, *path[0].DefaultWritePolicy)
			assert.Equal(t, models.Restricted, *path[0].DefaultClassification)
			assert.Equal(t, "v", path[0].Properties.V["k"])
			assert.Len(t, f.audit(t, models.AuditNamespaceUpdated), 1)
		},
		"only an empty namespace is dropped": func(t *testing.T, f *fixture) {
			child := f.namespace(t, "sales", "eu")
			drop := func(id string) error { return f.s.DropNamespace(t.Context(), id, event(models.AuditNamespaceDropped)) }
			requireFault(t, drop(f.ns.ID), fault.NotEmpty, fault.Namespace)
			require.NoError(t, drop(child.ID))
			row := f.table(t, "orders")
			requireFault(t, drop(f.ns.ID), fault.NotEmpty, fault.Namespace)
			require.NoError(t, f.drop(t, row.ID))
			require.NoError(t, drop(f.ns.ID))
			requireFault(t, drop(f.ns.ID), fault.NotFound, fault.Namespace)
			assert.Len(t, f.audit(t, models.AuditNamespaceDropped), 2)
		},
	}
}
