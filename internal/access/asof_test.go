package access_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a caller was found under is at least as new as its request, so that further on nobody need read it again.
func TestCallersKnowWhatTheyWereFoundUnder(t *testing.T) {
	d := newDesk(t)
	before, bearer := d.login(t)
	version, err := d.store.AccessVersion(t.Context())
	require.NoError(t, err)
	assert.LessOrEqual(t, before.AsOf, version)
	require.NoError(t, d.exec(`UPDATE catalogs SET base_location = base_location || '/x'`))
	after, err := d.auth.Authenticate(t.Context(), bearer)
	require.NoError(t, err)
	version, err = d.store.AccessVersion(t.Context())
	require.NoError(t, err)
	assert.Equal(t, version, after.AsOf)
	assert.Greater(t, after.AsOf, before.AsOf)
}
