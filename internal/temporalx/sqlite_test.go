package temporalx

import (
	"os"
	"path/filepath"
	"testing"

	productsqlite "github.com/libtnb/sqlite"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
)

func TestStoreOfAnotherSchemaIsRefused(t *testing.T) {
	dir := t.TempDir()
	_, err := openStore(dir)
	require.NoError(t, err)
	require.NoError(t, writeVersion(dir, storeVersion{Server: "1.40.0", Schema: "0.12", Visibility: "0.1"}))
	_, err = StartServer(t.Context(), ServerOptions{DataDir: dir})
	require.True(t, fault.Is(err, fault.Unprocessable), "%v", err)
	for _, part := range []string{dir, "0.12", "1.40.0", ownVersion().Schema, ownVersion().Server, "move the folder aside"} {
		require.Contains(t, fault.PublicMessage(err), part)
	}
}

func TestStoreOfAnotherServerWithTheSameSchemaIsTakenOver(t *testing.T) {
	dir := t.TempDir()
	_, err := openStore(dir)
	require.NoError(t, err)
	older := ownVersion()
	older.Server = "1.31.0"
	require.NoError(t, writeVersion(dir, older))
	_, err = openStore(dir)
	require.NoError(t, err)
	found, err := readVersion(dir)
	require.NoError(t, err)
	require.Equal(t, ownVersion(), found)
}

func TestStoreWithoutRecordIsRefused(t *testing.T) {
	dir := t.TempDir()
	_, err := openStore(dir)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, versionFile)))
	_, err = openStore(dir)
	require.True(t, fault.Is(err, fault.Unprocessable), "%v", err)

	require.NoError(t, os.WriteFile(filepath.Join(dir, versionFile), []byte("{"), 0o600))
	_, err = openStore(dir)
	require.True(t, fault.Is(err, fault.Unprocessable), "%v", err)
}

// What an interrupted creation leaves is a record, and at most an empty file.
func TestStoreWhoseCreationWasInterrupted(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, writeVersion(dir, storeVersion{Server: "1.0.0", Schema: "0.1", Visibility: "0.1"}))
	require.NoError(t, os.WriteFile(filepath.Join(dir, databaseFile), nil, 0o600))
	s, err := openStore(dir)
	require.NoError(t, err)
	exists, err := s.hasSchema()
	require.NoError(t, err)
	require.True(t, exists)
}

func TestStoreThatIsNoDatabase(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, databaseFile), []byte("this is no database, whatever its name says"), 0o600))
	_, err := openStore(dir)
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
}

// The product's own SQLite driver lives in the same process; a second
// registration of the name would panic at start.
func TestProductDriverBesideTemporals(t *testing.T) {
	db, err := gorm.Open(productsqlite.Open(filepath.Join(t.TempDir(), "product.db")), &gorm.Config{})
	require.NoError(t, err)
	var one int
	require.NoError(t, db.Raw("select 1").Scan(&one).Error)
	require.Equal(t, 1, one)
	_, err = openStore(t.TempDir())
	require.NoError(t, err)
}
