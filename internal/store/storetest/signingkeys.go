package storetest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func signingKeyCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a key is read as it was written":            keyIsKept,
		"a new key retires the older ones":           keysRetire,
		"forgotten keys go with the next one":        keysForgotten,
		"of eight that make the next key one does":   keyRace,
		"a clock that runs behind makes no old key":  keyOrder,
		"revocation leaves the key that is kept":     keysRevoked,
		"a key is made after the one that was known": keyConflict,
	}
}

func (f *fixture) newKey(created time.Time) models.SigningKey {
	return models.SigningKey{
		ID: uuid.NewString(), Algorithm: "ES256", Public: []byte{0, 1, 0xff}, Private: []byte{0xfe, 0, 2},
		CreatedAt: created, RetiresAt: created.Add(24 * time.Hour), ForgottenAt: created.Add(48 * time.Hour),
	}
}

func (f *fixture) addKey(t *testing.T, key models.SigningKey, newest string, retire time.Time) error {
	t.Helper()
	return f.s.AddSigningKey(t.Context(), key, newest, retire, event(models.AuditSigningKeyCreated))
}

func (f *fixture) keys(t *testing.T) []models.SigningKey {
	t.Helper()
	keys, err := f.s.SigningKeys(t.Context())
	require.NoError(t, err)
	return keys
}

func keyIsKept(t *testing.T, f *fixture) {
	assert.Empty(t, f.keys(t))
	key := f.newKey(f.started)
	require.NoError(t, f.addKey(t, key, "", f.started))
	assert.Equal(t, []models.SigningKey{key}, f.keys(t), "the first key is retired by nothing")
	assert.Len(t, f.audit(t, models.AuditSigningKeyCreated), 1)
}

func keysRetire(t *testing.T, f *fixture) {
	first, second, third := f.newKey(f.started), f.newKey(f.started.Add(time.Minute)), f.newKey(f.started.Add(2*time.Minute))
	require.NoError(t, f.addKey(t, first, "", f.started))
	early := f.started.Add(90 * time.Second)
	require.NoError(t, f.addKey(t, second, first.ID, early))
	late := f.started.Add(time.Hour)
	require.NoError(t, f.addKey(t, third, second.ID, late))
	first.RetiresAt, second.RetiresAt = early, late
	assert.Equal(t, []models.SigningKey{third, second, first}, f.keys(t), "no key's life becomes longer")
}

func keysForgotten(t *testing.T, f *fixture) {
	past := f.started.Add(-72 * time.Hour)
	old, older, next := f.newKey(past), f.newKey(past.Add(-time.Hour)), f.newKey(f.started)
	require.NoError(t, f.addKey(t, older, "", past))
	require.NoError(t, f.addKey(t, old, older.ID, past))
	require.NoError(t, f.addKey(t, next, old.ID, f.started))
	assert.Equal(t, []models.SigningKey{next}, f.keys(t))
}

func keyConflict(t *testing.T, f *fixture) {
	first, second := f.newKey(f.started), f.newKey(f.started.Add(time.Minute))
	requireFault(t, f.addKey(t, first, "unknown", f.started), fault.Conflict, fault.NoSubject)
	require.NoError(t, f.addKey(t, first, "", f.started))
	for _, newest := range []string{"", "unknown"} {
		requireFault(t, f.addKey(t, second, newest, f.started), fault.Conflict, fault.NoSubject)
	}
	requireFault(t, f.addKey(t, first, first.ID, f.started), fault.AlreadyExists, fault.NoSubject)
	assert.Equal(t, []models.SigningKey{first}, f.keys(t))
	assert.Len(t, f.audit(t, models.AuditSigningKeyCreated), 1)
}

func keyRace(t *testing.T, f *fixture) {
	newest := ""
	for round := range 3 {
		results := make([]error, 8)
		together(len(results), func(i int) {
			// Clocks differ: some are behind that of the key before.
			results[i] = f.addKey(t, f.newKey(f.started.Add(time.Duration(i-4)*time.Second)), newest, f.started)
		})
		won := 0
		for _, err := range results {
			if err == nil {
				won++
				continue
			}
			requireFault(t, err, fault.Conflict, fault.NoSubject)
		}
		assert.Equal(t, 1, won)
		keys := f.keys(t)
		require.Len(t, keys, round+1)
		assert.NotEqual(t, newest, keys[0].ID)
		newest = keys[0].ID
	}
	assert.Len(t, f.audit(t, models.AuditSigningKeyCreated), 3)
}

func keyOrder(t *testing.T, f *fixture) {
	first, behind := f.newKey(f.started), f.newKey(f.started.Add(-time.Hour))
	require.NoError(t, f.addKey(t, first, "", f.started))
	require.NoError(t, f.addKey(t, behind, first.ID, f.started))
	keys := f.keys(t)
	require.Len(t, keys, 2)
	assert.Equal(t, behind.ID, keys[0].ID)
	assert.Equal(t, behind.RetiresAt, keys[0].RetiresAt)
}

func keysRevoked(t *testing.T, f *fixture) {
	revoke := func(keep string) {
		t.Helper()
		require.NoError(t, f.s.RevokeSigningKeys(t.Context(), keep, event(models.AuditSigningKeysRevoked)))
	}
	revoke("")
	assert.Empty(t, f.audit(t, models.AuditSigningKeysRevoked), "there was none")
	first, second := f.newKey(f.started), f.newKey(f.started.Add(time.Minute))
	require.NoError(t, f.addKey(t, first, "", f.started))
	revoke(first.ID)
	assert.Empty(t, f.audit(t, models.AuditSigningKeysRevoked))
	require.NoError(t, f.addKey(t, second, first.ID, second.RetiresAt))
	revoke(second.ID)
	assert.Equal(t, []models.SigningKey{second}, f.keys(t))
	revoke("")
	assert.Empty(t, f.keys(t))
	assert.Len(t, f.audit(t, models.AuditSigningKeysRevoked), 2)
}
