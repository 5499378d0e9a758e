package chaos

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/sluice-data/sluice/e2e/product"
	"github.com/sluice-data/sluice/e2e/temporald"
	"github.com/sluice-data/sluice/internal/store/pgtest"
)

// binary gives the program, built once for all tests.
var binary func() (string, error)

func TestMain(m *testing.M) {
	temporald.Main()
	dir, err := os.MkdirTemp("", "sluice-chaos-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = sync.OnceValues(func() (string, error) { return product.Build(context.Background(), dir) })
	code := pgtest.Main(m)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
