package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/libtnb/sqlite"
	"github.com/pressly/goose/v3"
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
)

// openSQLite opens one writing connection and a pool of readers over the same file.
func openSQLite(ctx context.Context, cfg Config) (*Store, error) {
	file, synchronous, err := parseSQLiteURL(cfg.URL)
	if err != nil {
		return nil, err
	}
	if err := makeFile(file); err != nil {
		return nil, err
	}
	writes := file + "?" + writerParams(synchronous)
	s := &Store{
		dialect:  goose.DialectSQLite3,
		now:      cfg.Now,
		migrator: func() (*sql.DB, error) { return openOne(writes) },
	}
	// The writer comes first: it makes the file and turns on the write-ahead log.
	queue, err := newWriteQueue(ctx, writes, cfg)
	if err != nil {
		return nil, translate(ctx, err)
	}
	s.writes = queue
	s.closers = append(s.closers, queue.close)
	pool, err := sql.Open(sqlite.DriverName, file+"?"+readerParams())
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.pool = pool
	s.closers = append([]func() error{pool.Close}, s.closers...)
	conns := cfg.MaxConns
	if conns <= 0 {
		conns = max(4, 2*runtime.GOMAXPROCS(0))
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	s.read, err = gorm.Open(sqlite.New(sqlite.Config{Conn: pool}), gormConfig(cfg, true))
	if err != nil {
		return nil, errors.Join(translate(ctx, err), s.Close())
	}
	return s, nil
}

// makeFile makes the file and its folder where they are missing, for this user alone.
func makeFile(file string) error {
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600); err == nil { //nolint:gosec // the operator's path
			err = f.Close()
		}
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The database file cannot be opened: check the data folder and its permissions.")
	}
	return nil
}

func openOne(dsn string) (*sql.DB, error) {
	db, err := sql.Open(sqlite.DriverName, dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// parseSQLiteURL gives the absolute path of the file and the synchronous level.
func parseSQLiteURL(raw string) (file, synchronous string, err error) {
	path, query, _ := strings.Cut(raw, "?")
	path = strings.TrimPrefix(path, "sqlite:")
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		path = rest
	}
	if path == "" || strings.HasPrefix(path, ":memory:") || strings.HasPrefix(path, "file:") {
		return "", "", fault.New(fault.Invalid, "The SQLite URL names no file: use sqlite:///path/to/sluice.db or a path.")
	}
	params, err := url.ParseQuery(query)
	if err != nil {
		return "", "", fault.Wrap(err, fault.Invalid, "The options of the SQLite URL cannot be read.")
	}
	synchronous = "FULL"
	for key := range params {
		if key != "synchronous" {
			return "", "", fault.New(fault.Invalid, "The SQLite URL has the unknown option %q: only synchronous is known.", key)
		}
		synchronous = strings.ToUpper(params.Get(key))
	}
	if synchronous != "FULL" && synchronous != "NORMAL" {
		return "", "", fault.New(fault.Invalid, "The SQLite option synchronous is full (the default) or normal.")
	}
	file, err = filepath.Abs(path)
	if err != nil {
		return "", "", fault.Wrap(err, fault.Invalid, "The path of the database file cannot be resolved.")
	}
	return file, synchronous, nil
}

// commonParams: times as integers in microseconds, read back as times from TIMESTAMP columns alone.
func commonParams() url.Values {
	return url.Values{
		"_inttotime":           {"1"},
		"_texttotime":          {"0"},
		"_time_integer_format": {"unix_micro"},
		"_pragma":              {"busy_timeout(10000)", "foreign_keys(1)"},
	}
}

func writerParams(synchronous string) string {
	p := commonParams()
	p.Set("_txlock", "immediate")
	p.Add("_pragma", "journal_mode(WAL)")
	p.Add("_pragma", "synchronous("+synchronous+")")
	p.Add("_pragma", "journal_size_limit(67108864)")
	p.Add("_pragma", "cache_size(-16384)")
	p.Add("_pragma", "temp_store(MEMORY)") // the savepoints' journals
	return p.Encode()
}

func readerParams() string {
	p := commonParams()
	p.Add("_pragma", "query_only(1)")
	return p.Encode()
}
