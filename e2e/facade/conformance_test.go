package facade

import (
	"testing"

	icebergcatalog "github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/catalogtest"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/stretchr/testify/require"
)

// TestIcebergGoConformance runs iceberg-go's suite for catalogs through its REST client.
func TestIcebergGoConformance(t *testing.T) {
	catalogtest.RunCatalogTests(t, catalogtest.Config{
		SupportsNamespaceProperties: true,
		NewCatalog: func(t *testing.T) icebergcatalog.Catalog {
			s := newLake(t).serve(t)
			c, err := rest.NewCatalog(t.Context(), "sluice", s.url+mount, rest.WithOAuthToken(s.token), rest.WithWarehouseLocation("main"))
			require.NoError(t, err)
			return c
		},
	})
}
