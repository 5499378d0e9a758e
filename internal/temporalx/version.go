package temporalx

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"go.temporal.io/server/common/headers"
	sqliteschema "go.temporal.io/server/schema/sqlite"

	"github.com/sluice-data/sluice/internal/fault"
)

const versionFile = "temporal-version.json"

// storeVersion is what wrote a store. Temporal never migrates a SQLite schema
// and does not check it either, so the record decides who may open the store.
type storeVersion struct {
	Server     string `json:"server"`
	Schema     string `json:"schema"`
	Visibility string `json:"visibility"`
}

func ownVersion() storeVersion {
	return storeVersion{Server: headers.ServerVersion, Schema: sqliteschema.Version, Visibility: sqliteschema.VisibilityVersion}
}

// checkVersion compares the folder's record with this binary, and writes it.
// The record of a new store is written before its schema: whatever is
// interrupted, a schema without a record is never ours.
func checkVersion(dir string, schemaExists bool) error {
	own := ownVersion()
	if !schemaExists {
		return writeVersion(dir, own)
	}
	found, err := readVersion(dir)
	if err != nil {
		return err
	}
	if found.Schema != own.Schema || found.Visibility != own.Visibility {
		return fault.New(fault.Unprocessable,
			"the Temporal store in %s has schema %s/%s, written by Temporal %s, and this binary, with Temporal %s, needs schema %s/%s: "+
				"run the Sluice release that wrote it, or move the folder aside to start with empty workflow histories (tables, grants and audit are not in it)",
			dir, found.Schema, found.Visibility, found.Server, own.Server, own.Schema, own.Visibility)
	}
	if found == own {
		return nil
	}
	return writeVersion(dir, own)
}

func readVersion(dir string) (storeVersion, error) {
	var v storeVersion
	path := filepath.Join(dir, versionFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return v, fault.New(fault.Unprocessable,
			"%s holds a Temporal store but no %s, so its schema version is unknown: restore that file, or move the folder aside to start with empty workflow histories",
			dir, versionFile)
	}
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		return v, fault.Wrap(err, fault.Unprocessable,
			"%s cannot be read, so the schema version of the Temporal store is unknown: restore it, or move the folder aside to start with empty workflow histories", path)
	}
	return v, nil
}

// writeVersion replaces the record as a whole and makes it durable.
func writeVersion(dir string, v storeVersion) (err error) {
	path := filepath.Join(dir, versionFile)
	defer func() {
		if err != nil {
			err = fault.Wrap(err, fault.Unavailable, "%s cannot be written", path)
		}
	}()
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, versionFile+".*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
