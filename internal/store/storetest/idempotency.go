package storetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/models"
)

func idempotencyCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a mutation settles its key and happens once":      everyMutationOnce,
		"a mutation that fails leaves its key free":        failureLeavesKey,
		"a refusal's record does not settle the key":       refusalIsNoEffect,
		"many callers with one key have one effect":        oneEffect,
		"principals have keys of their own":                ownKeys,
		"a key past its lifetime is free again":            expiredKey,
		"expired keys are pruned and others stay":          keysArePruned,
		"what a key was settled with is read as it was":    keptAsWritten,
		"a key settled without a mutation is settled once": settledOnce,
	}
}

// claim begins a request under a key that nobody used.
func (f *fixture) claim(t *testing.T, principal, key string) (context.Context, *idempotency.Claim) {
	t.Helper()
	c := &idempotency.Claim{PrincipalID: principal, Key: key, Route: "POST /x", RequestHash: "h"}
	keeper := idempotency.New(idempotency.Deps{Store: f.s, Lifetime: time.Hour, Now: time.Now})
	kept, end, err := keeper.Begin(t.Context(), c)
	require.NoError(t, err)
	require.Nil(t, kept)
	t.Cleanup(end)
	return idempotency.With(t.Context(), c), c
}

func (f *fixture) settled(t *testing.T, key string) bool {
	t.Helper()
	_, err := f.s.IdempotencyKey(t.Context(), "ada", key)
	if err != nil {
		requireFault(t, err, fault.NotFound, fault.NoSubject)
	}
	return err == nil
}

func everyMutationOnce(t *testing.T, f *fixture) {
	a, b, c := f.table(t, "a"), f.table(t, "b"), f.table(t, "c")
	sub := f.namespace(t, "sales", "eu")
	swap := func(rows ...models.Table) func(context.Context) error {
		return func(ctx context.Context) error {
			var swaps []catalog.Swap
			for _, row := range rows {
				now, err := f.s.TableByID(ctx, row.ID)
				require.NoError(t, err)
				swaps = append(swaps, swapTo(now, time.Now().UnixNano(), 1))
			}
			return f.s.SwapTables(ctx, swaps)
		}
	}
	n := 0
	mutations := []struct {
		name string
		do   func(ctx context.Context) error
	}{
		{"one swap", swap(a)},
		{"several swaps", swap(b, c)},
		{"a new table beside a swap", func(ctx context.Context) error {
			n++
			now, err := f.s.TableByID(ctx, a.ID)
			require.NoError(t, err)
			return f.s.SwapTables(ctx, []catalog.Swap{swapTo(now, time.Now().UnixNano(), 1), {Table: f.newTable(fmt.Sprint("n", n)), Create: true}})
		}},
		{"a new table", func(ctx context.Context) error {
			n++
			return f.s.CreateTable(ctx, f.newTable(fmt.Sprint("n", n)), catalog.Effects{})
		}},
		{"a rename", func(ctx context.Context) error {
			n++
			return f.s.RenameTable(ctx, a.ID, f.ns.ID, fmt.Sprint("n", n), event(models.AuditTableRenamed))
		}},
		{"a new namespace", func(ctx context.Context) error {
			n++
			return f.s.CreateNamespace(ctx, f.newNamespace(fmt.Sprint("ns", n)), event(models.AuditNamespaceCreated))
		}},
		{"namespace properties", func(ctx context.Context) error {
			path, err := f.s.NamespacePath(ctx, f.cat.ID, sub.Key)
			require.NoError(t, err)
			return f.s.UpdateNamespace(ctx, path[1], event(models.AuditNamespaceUpdated))
		}},
	}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			key := uuid.NewString()
			first, claim := f.claim(t, "ada", key)
			again := idempotency.With(t.Context(), &idempotency.Claim{PrincipalID: "ada", Key: key, Route: "POST /x", RequestHash: "h"})
			require.NoError(t, m.do(first))
			require.True(t, claim.Written())
			require.True(t, f.settled(t, key))
			before := f.everything(t)
			err := m.do(again)
			require.True(t, idempotency.IsUsed(err), "%v", err)
			assert.Equal(t, before, f.everything(t), "the repeat had an effect")
		})
	}
}

// everything counts what mutations write, and where the tables point to.
func (f *fixture) everything(t *testing.T) map[string]int {
	t.Helper()
	rows, err := f.s.ListTables(t.Context(), f.ns.ID, catalog.Page{})
	require.NoError(t, err)
	out := map[string]int{"outbox": len(f.outbox(t)), "audit": len(f.audit(t, ""))}
	for _, row := range rows {
		out[row.Name+" "+row.MetadataLocation]++
	}
	for _, parent := range []models.NamespaceKey{"", f.ns.Key} {
		children, err := f.s.ListNamespaces(t.Context(), f.cat.ID, parent, catalog.Page{})
		require.NoError(t, err)
		for _, ns := range children {
			out["namespace "+ns.Key.String()] = int(ns.Version)
		}
	}
	return out
}

func failureLeavesKey(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	f.commit(t, row, 1, 1)
	key := uuid.NewString()
	ctx, claim := f.claim(t, "ada", key)
	requireFault(t, f.s.SwapTables(ctx, []catalog.Swap{swapTo(row, 2, 2)}), fault.Conflict, fault.Table)
	requireFault(t, f.s.CreateTable(ctx, f.newTable("orders"), catalog.Effects{}), fault.AlreadyExists, fault.Table)
	assert.False(t, claim.Written())
	assert.False(t, f.settled(t, key))
	require.NoError(t, f.s.SwapTables(ctx, []catalog.Swap{swapTo(f.load(t, row.ID), 2, 2)}))
	assert.True(t, f.settled(t, key))
	// The claim is settled: what the same request writes after that is no second use of its key.
	require.NoError(t, f.s.SwapTables(ctx, []catalog.Swap{swapTo(f.load(t, row.ID), 3, 3)}))
}

func refusalIsNoEffect(t *testing.T, f *fixture) {
	key := uuid.NewString()
	ctx, claim := f.claim(t, "ada", key)
	require.NoError(t, f.s.AppendAudit(ctx, event(models.AuditCommitDenied)))
	assert.False(t, claim.Written())
	assert.False(t, f.settled(t, key))
}

func oneEffect(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	for round := range 5 {
		key := uuid.NewString()
		var won atomic.Int64
		together(12, func(i int) {
			ctx := idempotency.With(t.Context(), &idempotency.Claim{PrincipalID: "ada", Key: key, Route: "POST /x", RequestHash: "h"})
			var err error
			if i%2 == 0 {
				err = f.s.CreateNamespace(ctx, f.newNamespace(fmt.Sprint("r", round, "-", i)), event(models.AuditNamespaceCreated))
			} else if err = f.s.SwapTables(ctx, []catalog.Swap{swapTo(f.load(t, row.ID), int64(round*100+i+1), 1)}); fault.Is(err, fault.Conflict) {
				return // another's swap came first, not under this key
			}
			if err == nil {
				won.Add(1)
				return
			}
			assert.True(t, idempotency.IsUsed(err), "%v", err)
		})
		assert.EqualValues(t, 1, won.Load())
	}
}

func ownKeys(t *testing.T, f *fixture) {
	key := uuid.NewString()
	for _, principal := range []string{"ada", "bob"} {
		ctx, _ := f.claim(t, principal, key)
		require.NoError(t, f.s.CreateNamespace(ctx, f.newNamespace(principal), event(models.AuditNamespaceCreated)))
	}
}

func expiredKey(t *testing.T, f *fixture) {
	key := uuid.NewString()
	require.NoError(t, f.s.SettleIdempotencyKey(t.Context(), keyRow(key, time.Now().Add(-time.Second))))
	ctx, claim := f.claim(t, "ada", key)
	require.NoError(t, f.s.CreateNamespace(ctx, f.newNamespace("anew"), event(models.AuditNamespaceCreated)))
	assert.True(t, claim.Written())
}

func keysArePruned(t *testing.T, f *fixture) {
	live := uuid.NewString()
	require.NoError(t, f.s.SettleIdempotencyKey(t.Context(), keyRow(live, time.Now().Add(time.Minute))))
	for range 3 {
		require.NoError(t, f.s.SettleIdempotencyKey(t.Context(), keyRow(uuid.NewString(), time.Now().Add(-time.Second))))
	}
	n, err := f.s.PruneIdempotencyKeys(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 3, n)
	assert.True(t, f.settled(t, live))
	n, err = f.s.PruneIdempotencyKeys(t.Context())
	require.NoError(t, err)
	assert.Zero(t, n)
}

func keyRow(key string, expires time.Time) models.IdempotencyKey {
	return models.IdempotencyKey{
		PrincipalID: "ada", Key: key, Route: "POST /x", RequestHash: "h", Status: models.IdempotencyDone,
		CreatedAt: expires.Add(-time.Hour), ExpiresAt: expires,
	}
}

func keptAsWritten(t *testing.T, f *fixture) {
	row := keyRow(uuid.NewString(), time.Now().Add(time.Hour))
	row.Status, row.Subject, row.Message = string(fault.NotFound), string(fault.Table), "Table does not exist: größe \x00."
	row.Result = `{"a":[1]}`
	require.NoError(t, f.s.SettleIdempotencyKey(t.Context(), row))
	got, err := f.s.IdempotencyKey(t.Context(), row.PrincipalID, row.Key)
	require.NoError(t, err)
	assert.Equal(t, []string{row.Status, row.Subject, "Table does not exist: größe \uFFFD.", row.Result}, []string{got.Status, got.Subject, got.Message, got.Result})
	assert.WithinDuration(t, row.ExpiresAt, got.ExpiresAt, time.Millisecond)
}

func settledOnce(t *testing.T, f *fixture) {
	row := keyRow(uuid.NewString(), time.Now().Add(time.Hour))
	require.NoError(t, f.s.SettleIdempotencyKey(t.Context(), row))
	err := f.s.SettleIdempotencyKey(t.Context(), row)
	assert.True(t, idempotency.IsUsed(err), "%v", err)
}
