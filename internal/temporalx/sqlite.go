package temporalx

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sluice-data/sluice/internal/fault"
)

const databaseFile = "temporal.db"

// store is Temporal's whole state: one SQLite file.
type store struct {
	file string
	sql  *config.SQL
}

// openStore makes the folder and the schema if they are missing, and refuses a
// store that another schema version wrote.
func openStore(dir string) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "the Temporal data folder %s cannot be made", dir)
	}
	s := &store{file: filepath.Join(dir, databaseFile)}
	s.sql = &config.SQL{
		PluginName: sqliteplugin.PluginName,
		// The plugin puts this into a URI, and SQLite undoes the escapes.
		DatabaseName:      (&url.URL{Path: s.file}).EscapedPath(),
		ConnectAttributes: pragmas(),
		// More connections would meet each other as "database is locked".
		MaxConns: 1, MaxIdleConns: 1,
	}
	exists, err := s.hasSchema()
	if err != nil {
		return nil, err
	}
	if err := checkVersion(dir, exists); err != nil {
		return nil, err
	}
	if exists {
		return s, nil
	}
	return s, s.createSchema()
}

// pragmas of every connection to the store.
//
// synchronous is FULL (2). In WAL mode NORMAL would survive a killed process
// too, but a power cut would undo the last transactions: a workflow whose outbox
// row is already gone, or an approval somebody got an answer to. FULL costs a
// fifth of the throughput on a good disk, and no commit of a table waits for it.
func pragmas() map[string]string {
	return map[string]string{
		"mode":         "rwc",
		"journal_mode": "wal",
		"synchronous":  "2",
		"busy_timeout": "10000",
	}
}

// open gives a connection of our own, for the moments when Temporal has none.
func (s *store) open() (*sql.DB, error) {
	q := url.Values{"mode": {"rwc"}}
	for _, p := range []string{"busy_timeout=10000", "journal_mode=wal", "synchronous=2"} {
		q.Add("_pragma", p)
	}
	db, err := sql.Open("sqlite", "file:"+s.sql.DatabaseName+"?"+q.Encode())
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "the Temporal store %s cannot be opened", s.file)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

func (s *store) hasSchema() (bool, error) {
	if _, err := os.Stat(s.file); os.IsNotExist(err) {
		return false, nil
	}
	db, err := s.open()
	if err != nil {
		return false, err
	}
	defer func() { _ = db.Close() }()
	var tables int
	// The schema is created in one transaction, so that any table means all of them.
	if err := db.QueryRow("select count(*) from sqlite_master where type = 'table'").Scan(&tables); err != nil {
		return false, fault.Wrap(err, fault.Unavailable,
			"the Temporal store %s cannot be read: restore it from a backup, or move it aside to start with an empty one", s.file)
	}
	return tables > 0, nil
}

func (s *store) createSchema() error {
	db, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	tx, err := db.Begin()
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "the Temporal store %s cannot be written", s.file)
	}
	defer func() { _ = tx.Rollback() }()
	if err := sqliteschema.SetupSchemaOnDB(schemaTx{tx: tx}); err != nil {
		return fault.Wrap(err, fault.Unavailable, "the schema of the Temporal store %s cannot be created", s.file)
	}
	if err := tx.Commit(); err != nil {
		return fault.Wrap(err, fault.Unavailable, "the schema of the Temporal store %s cannot be created", s.file)
	}
	return nil
}

// schemaTx lets Temporal's schema setup run in one transaction. Setup calls Exec only.
type schemaTx struct {
	sqlplugin.AdminDB
	tx *sql.Tx
}

func (s schemaTx) Exec(stmt string, args ...any) error {
	_, err := s.tx.Exec(stmt, args...)
	return err
}

// createNamespace writes the namespace before the server starts, so that every
// service knows it from the first moment. An existing one is left as it is.
func (s *store) createNamespace(name string, retention time.Duration) error {
	ns, err := sqliteschema.NewNamespaceConfig(clusterName, name, false, nil)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "the Temporal namespace %q cannot be described", name)
	}
	ns.Detail.Config.Retention = durationpb.New(retention)
	if err := sqliteschema.CreateNamespaces(s.sql, ns); err != nil {
		return fault.Wrap(err, fault.Unavailable, "the Temporal namespace %q cannot be created in %s", name, s.file)
	}
	return nil
}

// checkpoint moves the write-ahead log into the file: a stopped server's state
// is then the one file, and can be copied. Temporal never closes its connection.
func (s *store) checkpoint() error {
	db, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(context.Background(), "pragma wal_checkpoint(truncate)")
	return err
}
