package azure

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/objects/objectstest"
)

func TestStoreOnAzurite(t *testing.T) {
	a := startAzurite(t, false)
	a.createContainer(t, "lake")
	root := parse(t, "abfss://lake@"+testAccount+".dfs.core.windows.net/wh")
	s, err := New(Config{Endpoint: a.endpoint(), AccountKey: a.key}, root)
	require.NoError(t, err)
	objectstest.Run(t, func(*testing.T) (objects.Store, string) {
		return s, root.String() + "/" + uuid.NewString()
	}, "...", "..x/y..")
}

func parse(t testing.TB, s string) objects.Location {
	t.Helper()
	loc, err := objects.Parse(s)
	require.NoError(t, err)
	return loc
}
