package fault_test

import (
	"testing"

	"github.com/sluice-data/sluice/internal/fault"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"email", "email", 0}, {"emial", "email", 2}, {"mail", "email", 1}, {"kitten", "sitting", 3}} {
		if got := fault.Distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
