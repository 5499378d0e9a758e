package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// URLVariable names the environment variable that says which server tests use.
const URLVariable = "SLUICE_TEST_POSTGRES_URL"

// Main runs a package's tests with a server, which it stops afterwards. Without PostgreSQL's binaries the tests run
// all the same and Database skips them; where CI=true that is a failure.
func Main(m *testing.M) int {
	if os.Getenv(URLVariable) != "" {
		return m.Run()
	}
	server, err := Start(context.Background(), Options{})
	switch {
	case errors.Is(err, ErrNotInstalled) && os.Getenv("CI") != "true":
		return m.Run()
	case err != nil:
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		return 1
	}
	defer server.Stop()
	if err := os.Setenv(URLVariable, server.URL()); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		return 1
	}
	return m.Run()
}

// Database gives the URL of an empty place for one test, which is gone at the test's end: a schema of its own in the
// server's database, found by the URL's search_path. A database for each would cost half a second.
func Database(t testing.TB) string {
	t.Helper()
	server := os.Getenv(URLVariable)
	if server == "" {
		t.Skip("PostgreSQL is not installed: install it, or set " + URLVariable + " to the URL of a database.")
	}
	name := "sluice_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := execute(ctx, server, "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := execute(ctx, server, "DROP SCHEMA "+name+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("search_path", name)
	u.RawQuery = query.Encode()
	return u.String()
}

func execute(ctx context.Context, server, statement string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}
