package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/sluice-data/sluice/e2e/product"
	"github.com/sluice-data/sluice/e2e/temporald"
	"github.com/sluice-data/sluice/internal/store/pgtest"
)

// Made once by TestMain, when benchmarks run.
var (
	binary   string
	postgres *pgtest.Server // nil without PostgreSQL's binaries
)

func TestMain(m *testing.M) {
	temporald.Main()
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		os.Exit(m.Run())
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if binary, err = product.Build(context.Background(), dir); err != nil {
		return 1, err
	}
	postgres, err = pgtest.Start(context.Background(), pgtest.Options{Durable: true})
	if err != nil && !errors.Is(err, pgtest.ErrNotInstalled) {
		return 1, err
	}
	if postgres != nil {
		defer postgres.Stop()
		if err := os.Setenv(pgtest.URLVariable, postgres.URL()); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}
