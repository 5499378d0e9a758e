package dataplane_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/models"
)

func order(id int, region, note string) string {
	return fmt.Sprintf(`{"id":"%d","region":%q,"note":%q}`, id, region, note)
}

func TestAppendsLandWithTheirAudit(t *testing.T) {
	for version := 1; version <= 3; version++ {
		for _, spec := range []string{"", byRegion} {
			t.Run(fmt.Sprintf("v%d %s", version, spec), func(t *testing.T) {
				l := newWriteLake(t)
				l.make(made{name: "orders", version: version, spec: spec})
				one := l.wrote("orders", dataplane.WriteInput{}, order(1, "EU", "a"), order(2, "US", "b"))
				two := l.wrote("orders", dataplane.WriteInput{Mode: models.AppendRows}, order(2, "US", "b"))
				require.Equal(t, []string{order(1, "EU", "a"), order(2, "US", "b"), order(2, "US", "b")}, l.content("orders"))
				require.EqualValues(t, 2, one.Rows)
				require.EqualValues(t, 1, two.Rows)
				require.Equal(t, map[models.Classification]int64{models.Internal: 2}, one.Levels)
				require.Equal(t, models.Internal, one.Level)
				require.Equal(t, l.hashes("orders", "id", "region", "note"), hashesOf(append(l.records(one.AuditID), l.records(two.AuditID)...)))
			})
		}
	}
}

// What was written is in the ledger, in the audit and in the snapshot, under the name of who wrote it.
func TestWhereAWriteIsNoted(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	_, err := l.core.SetWritePolicy(t.Context(), l.owner(), "main.sales.orders", models.GovernedOnly)
	require.NoError(t, err)
	out := l.wrote("orders", dataplane.WriteInput{Label: models.Confidential}, order(1, "EU", "a"))
	require.Equal(t, models.Confidential, out.Level)

	view := l.load("orders")
	head, ok := view.Document.CurrentSnapshotID()
	require.True(t, ok)
	require.Equal(t, out.SnapshotID, head)
	snapshot, _ := view.Document.Snapshot(head)
	require.Equal(t, out.AuditID, snapshot.Summary["sluice.write-id"])
	require.Equal(t, "append", snapshot.Summary["sluice.write-mode"])

	commits, err := l.db.Commits(t.Context(), models.CommitFilter{TableID: view.Row.ID, Limit: 5})
	require.NoError(t, err)
	require.Len(t, commits, 1)
	require.Equal(t, models.PlatformCommit, commits[0].Kind)
	require.Equal(t, "eve", commits[0].Writer.V.Principal)
	require.Equal(t, "sluice", commits[0].Writer.V.Engine)

	write, err := l.db.GovernedWrite(t.Context(), out.AuditID)
	require.NoError(t, err)
	require.Equal(t, "eve", write.Principal)
	require.Equal(t, "token-of-eve", write.TokenID)
	require.Equal(t, "sales.orders", write.TableName)
	require.Equal(t, out.SnapshotID, write.SnapshotID)
	require.Equal(t, models.Confidential, write.Label)
	require.EqualValues(t, len(order(1, "EU", "a")), write.Bytes)
	require.Len(t, write.Digest, 64)

	events, err := l.db.AuditEvents(t.Context(), models.AuditFilter{Type: models.AuditRowsWritten, Limit: 5})
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Equal(t, out.AuditID, events[0].EventID)
	require.Equal(t, "eve", events[0].Principal)
}

func TestRowsThatAreNoneOfTheTable(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	lines := []string{order(1, "EU", "a"), `{"id":"x"}`, `{"region":"EU"}`, `{"id":"4","colour":"red"}`, order(5, "US", "b")}
	_, err := l.write("orders", dataplane.WriteInput{}, lines...)
	refused(t, err, fault.Invalid, "3 rows")
	all, ok := errors.AsType[*dataplane.WriteErrors](err)
	require.True(t, ok)
	require.EqualValues(t, 3, all.Total)
	var numbers []int64
	for _, e := range all.Rows {
		numbers = append(numbers, e.Row)
	}
	require.Equal(t, []int64{2, 3, 4}, numbers)
	require.Equal(t, "id", all.Rows[0].Field)
	require.Empty(t, l.objects("orders"), "nothing is left of it")
	require.Empty(t, l.content("orders"))
}

func TestTheFirstHundredErrorsAreTold(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	lines := make([]string, 20_000)
	for i := range lines {
		lines[i] = `{"id":null}`
	}
	_, err := l.write("orders", dataplane.WriteInput{}, lines...)
	all, ok := errors.AsType[*dataplane.WriteErrors](err)
	require.True(t, ok, "%v", err)
	require.Len(t, all.Rows, 100)
	require.EqualValues(t, 20_000, all.Total)
	require.EqualValues(t, 100, all.Rows[99].Row)
}

func TestContentThatMayNotLand(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	_, err := l.write("orders", dataplane.WriteInput{}, order(1, "EU", "fine"), order(2, "EU", "mail ada@example.org about it"))
	refused(t, err, fault.Unprocessable, "row 2")
	require.Contains(t, fault.PublicMessage(err), "on-violation quarantine", "it says what to do")
	require.NotContains(t, err.Error(), "ada@example.org")
	require.Empty(t, l.objects("orders"))

	l.govern("orders", models.Internal, nil, map[string]models.ColumnGovernance{"note": {Sensitivity: models.Confidential, Tag: "email"}})
	out := l.wrote("orders", dataplane.WriteInput{}, order(1, "EU", "fine"), order(2, "EU", "mail ada@example.org about it"))
	require.Equal(t, map[models.Classification]int64{models.Confidential: 2}, out.Levels)
	require.EqualValues(t, 2, out.Tags["email"])

	_, err = l.write("orders", dataplane.WriteInput{Label: models.Internal}, order(3, "EU", "fine"))
	refused(t, err, fault.Unprocessable, "labelled internal")
}

func TestTheCallersLabelRaisesRows(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	out := l.wrote("orders", dataplane.WriteInput{Label: models.Restricted}, order(1, "EU", "a"))
	require.Equal(t, map[models.Classification]int64{models.Restricted: 1}, out.Levels)
	_, err := l.write("orders", dataplane.WriteInput{Label: "secret"}, order(1, "EU", "a"))
	refused(t, err, fault.Invalid, "secret")
}

func TestAWriteOfNothing(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2, identifier: "1"})
	for _, mode := range []models.WriteMode{models.AppendRows, models.UpsertRows} {
		out := l.wrote("orders", dataplane.WriteInput{Mode: mode, Format: rows.JSON, Body: strings.NewReader("[]")})
		require.Zero(t, out.SnapshotID)
		require.Zero(t, out.Rows)
		require.Empty(t, out.AuditID)
	}
	_, ok := l.load("orders").Document.CurrentSnapshotID()
	require.False(t, ok)
	require.Empty(t, l.objects("orders"))
}

func TestWhoMayWrite(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	in := func() dataplane.WriteInput {
		return dataplane.WriteInput{Format: rows.NDJSON, Body: strings.NewReader(order(1, "EU", "a"))}
	}
	_, err := l.data.Write(t.Context(), l.holding("bob", models.Internal, nil, models.DataRead, models.TableList), "main.sales.orders", in())
	refused(t, err, fault.Forbidden, "DATA_WRITE")
	_, err = l.data.Write(t.Context(), l.holding("bob", models.Internal, nil), "main.sales.orders", in())
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	reader := l.writer()
	reader.ReadOnly = true
	_, err = l.data.Write(t.Context(), reader, "main.sales.orders", in())
	refused(t, err, fault.Forbidden, "read-only")
	_, err = l.write("orders", dataplane.WriteInput{Mode: "replace"}, order(1, "EU", "a"))
	refused(t, err, fault.Invalid, "replace")
	_, err = l.write("orders", dataplane.WriteInput{OnViolation: "ignore"}, order(1, "EU", "a"))
	refused(t, err, fault.Invalid, "ignore")
	require.Empty(t, l.content("orders"))
}

func TestABodyThatEndsEarlyOrNever(t *testing.T) {
	l := newWriteLake(t, func(d *dataplane.Deps) { d.Limits.RequestBytes = 4 << 20 })
	l.make(made{name: "orders", version: 2})
	line := order(1, "EU", strings.Repeat("x", 1000)) + "\n"
	broken := io.MultiReader(strings.NewReader(strings.Repeat(line, 3000)), iotestError{errors.New("connection reset")})
	_, err := l.write("orders", dataplane.WriteInput{Format: rows.NDJSON, Body: broken})
	refused(t, err, fault.Invalid, "")
	_, err = l.write("orders", dataplane.WriteInput{Format: rows.NDJSON, Body: strings.NewReader(strings.Repeat(line, 5000))})
	refused(t, err, fault.TooLarge, "Split")
	_, err = l.write("orders", dataplane.WriteInput{Format: rows.JSON, Body: strings.NewReader(`[` + order(1, "EU", "a") + `,`)})
	refused(t, err, fault.Invalid, "")
	require.Empty(t, l.objects("orders"))
}

// iotestError is a body that fails.
type iotestError struct{ err error }

func (e iotestError) Read([]byte) (int, error) { return 0, e.err }
