package temporalx

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWorkflowURL(t *testing.T) {
	for _, c := range []struct{ base, namespace, id, want string }{
		{"http://127.0.0.1:8233", "sluice", "reconcile/7d9a/42", "http://127.0.0.1:8233/namespaces/sluice/workflows/reconcile%2F7d9a%2F42"},
		{"https://temporal.example/ui/", "sluice.a1b2c", "a b?c#d%e", "https://temporal.example/ui/namespaces/sluice.a1b2c/workflows/a%20b%3Fc%23d%25e"},
		{"", "sluice", "x", ""},
	} {
		require.Equal(t, c.want, WorkflowURL(c.base, c.namespace, c.id))
	}
}
