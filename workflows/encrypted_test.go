package workflows_test

import (
	"encoding/base64"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/temporalx"
	"github.com/sluice-data/sluice/workflows"
)

// TestOnTemporalEncrypted is what must hold as well when everything that workflows are given is encrypted.
func TestOnTemporalEncrypted(t *testing.T) {
	plain := startTemporal(t)
	ring, err := keyring.Parse("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("0123456789abcdef", 2))))
	require.NoError(t, err)
	data, failures := temporalx.EncryptedConverters(ring)
	c, err := temporalx.Dial(t.Context(), temporalx.ClientOptions{
		Address: plain.server.Address(), Namespace: namespace, Logger: slog.New(slog.DiscardHandler), DataConverter: data, FailureConverter: failures,
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	e := &cluster{client: c, server: plain.server}
	for name, part := range map[string]func(*testing.T, *cluster){
		"a commit's whole workflow is one workflow task":  oneWorkflowTask,
		"starting again what runs or is done is no error": startAgain,
		"a table registered again is reconciled again":    startForAnotherRow,
		"the sweep finds what no event announced":         sweepOnSchedule,
		"what Temporal can read is names and ids":         readable,
	} {
		t.Run(name, func(t *testing.T) { part(t, e) })
	}
}

// readable lists what encryption leaves readable: a new memo or attribute is to be looked at before it is added here.
func readable(t *testing.T, e *cluster) {
	world := activitiestest.New()
	target := world.Commit(newTable(world))
	require.NoError(t, e.starter(world).StartReconcile(t.Context(), event(1, target)))
	info := e.describe(t, idOf(target)).WorkflowExecutionInfo
	attributes := slices.Sorted(maps.Keys(info.GetSearchAttributes().GetIndexedFields()))
	require.Equal(t, slices.Sorted(maps.Keys(workflows.SearchAttributes())), attributes)
	require.Equal(t, []string{"tableId"}, slices.Sorted(maps.Keys(info.GetMemo().GetFields())))
	memo := info.GetMemo().GetFields()["tableId"]
	require.Equal(t, "binary/encrypted", string(memo.GetMetadata()["encoding"]))
	require.NotContains(t, string(memo.GetData()), target.TableID)
}
