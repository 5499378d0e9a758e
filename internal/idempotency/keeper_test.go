package idempotency_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/store"
)

func newKeeper(t *testing.T, lifetime time.Duration) *idempotency.Keeper {
	t.Helper()
	return keeperOf(newStore(t), lifetime)
}

func keeperOf(s *store.Store, lifetime time.Duration) *idempotency.Keeper {
	return idempotency.New(idempotency.Deps{Store: s, Lifetime: lifetime, Now: time.Now})
}

func newStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: filepath.Join(t.TempDir(), "sluice.db")})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	require.NoError(t, store.Migrate(t.Context(), s))
	return s
}

func claim(key string) *idempotency.Claim {
	return &idempotency.Claim{PrincipalID: "ada", Key: key, Route: "POST /x", RequestHash: "h"}
}

func TestKeysAreUUIDs(t *testing.T) {
	id := "0190A6C0-9b3e-7000-8000-00000000000f"
	key, err := idempotency.ParseKey(id)
	require.NoError(t, err)
	assert.Equal(t, strings.ToLower(id), key)
	for _, bad := range []string{"", "x", "{" + id + "}", "urn:uuid:" + id, strings.ReplaceAll(id, "-", ""), id + "0", id[:35] + "g"} {
		_, err := idempotency.ParseKey(bad)
		assert.Equal(t, fault.Invalid, fault.CodeOf(err), bad)
	}
}

// TestWhatIsKept: successes without a mutation and refusals that every repeat would get.
func TestWhatIsKept(t *testing.T) {
	k := newKeeper(t, time.Hour)
	for _, c := range []struct {
		outcome error
		kept    bool
	}{
		{nil, true},
		{fault.New(fault.Invalid, "Wrong."), true},
		{fault.New(fault.Forbidden, "Not you."), true},
		{fault.About(fault.NotFound, fault.Table, "No table."), true},
		{fault.New(fault.Conflict, "Stale."), true},
		{fault.New(fault.AlreadyExists, "Taken."), true},
		{fault.New(fault.NotEmpty, "Full."), true},
		{fault.New(fault.Unprocessable, "Both."), true},
		{fault.New(fault.Unsupported, "Not offered."), true},
		{fault.New(fault.Invalid, "%s", strings.Repeat("long ", 10000)), false},
		{fault.New(fault.Unauthenticated, "Who?"), false},
		{fault.New(fault.TooLarge, "Too large."), false},
		{fault.New(fault.Unavailable, "Later."), false},
		{fault.New(fault.UnknownState, "In doubt."), false},
		{fault.New(fault.Internal, "Odd."), false},
		{context.Canceled, false},
		{context.DeadlineExceeded, false},
	} {
		first := claim(uuid.NewString())
		kept, end, err := k.Begin(t.Context(), first)
		require.NoError(t, err)
		require.Nil(t, kept)
		require.Nil(t, k.Settle(t.Context(), first, c.outcome))
		end()
		kept, end, err = k.Begin(t.Context(), claim(first.Key))
		require.NoError(t, err)
		end()
		require.Equal(t, c.kept, kept != nil, "%v", c.outcome)
		if c.kept {
			want, refused := errors.AsType[*fault.Error](c.outcome)
			if !refused {
				require.NoError(t, idempotency.Refusal(*kept))
				continue
			}
			want.Audited = true // the first time was recorded
			require.Equal(t, want, idempotency.Refusal(*kept))
		}
	}
}

func TestAnotherRequestOfTheKey(t *testing.T) {
	k := newKeeper(t, time.Hour)
	first := claim(uuid.NewString())
	_, end, err := k.Begin(t.Context(), first)
	require.NoError(t, err)
	require.Nil(t, k.Settle(t.Context(), first, nil))
	end()
	for _, other := range []*idempotency.Claim{
		{PrincipalID: "ada", Key: first.Key, Route: "POST /y", RequestHash: "h"},
		{PrincipalID: "ada", Key: first.Key, Route: "POST /x", RequestHash: "i"},
	} {
		_, _, err := k.Begin(t.Context(), other)
		assert.Equal(t, fault.Unprocessable, fault.CodeOf(err))
	}
	bob := claim(first.Key)
	bob.PrincipalID = "bob"
	kept, end, err := k.Begin(t.Context(), bob)
	require.NoError(t, err)
	end()
	assert.Nil(t, kept)
}

func TestRepeatsWaitUntilTheirClientGoes(t *testing.T) {
	k := newKeeper(t, time.Hour)
	first := claim(uuid.NewString())
	_, end, err := k.Begin(t.Context(), first)
	require.NoError(t, err)
	impatient, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, _, err = k.Begin(impatient, claim(first.Key))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	waited := make(chan bool)
	go func() {
		kept, end, err := k.Begin(t.Context(), claim(first.Key))
		if assert.NoError(t, err) {
			end()
		}
		waited <- kept != nil
	}()
	require.Nil(t, k.Settle(t.Context(), first, nil))
	end()
	require.True(t, <-waited, "who waited learns the outcome")
}

// TestSettledByAnotherProcess: who comes second hears what the first was told.
func TestSettledByAnotherProcess(t *testing.T) {
	s := newStore(t)
	here, there := keeperOf(s, time.Hour), keeperOf(s, time.Hour)
	key := uuid.NewString()
	mine, theirs := claim(key), claim(key)
	_, end, err := here.Begin(t.Context(), mine)
	require.NoError(t, err)
	defer end()
	_, endThere, err := there.Begin(t.Context(), theirs)
	require.NoError(t, err)
	defer endThere()
	require.Nil(t, there.Settle(t.Context(), theirs, nil))
	kept := here.Settle(t.Context(), mine, fault.New(fault.NotFound, "Gone."))
	require.NotNil(t, kept)
	require.NoError(t, idempotency.Refusal(*kept))
}

func TestRunPrunes(t *testing.T) {
	k := newKeeper(t, 10*time.Millisecond)
	first := claim(uuid.NewString())
	_, end, err := k.Begin(t.Context(), first)
	require.NoError(t, err)
	require.Nil(t, k.Settle(t.Context(), first, nil))
	end()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); k.Run(ctx) }()
	require.Eventually(t, func() bool {
		kept, err := k.Kept(t.Context(), first)
		return err == nil && kept == nil
	}, 5*time.Second, 20*time.Millisecond)
	cancel()
	<-done
}
