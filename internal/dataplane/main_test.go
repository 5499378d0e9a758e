package dataplane_test

import (
	"os"
	"testing"

	"github.com/sluice-data/sluice/internal/store/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
