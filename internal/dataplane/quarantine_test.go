package dataplane_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// aside is a row of a quarantine as a query gives it.
type aside struct {
	WriteID   string   `json:"write_id"`
	Row       string   `json:"row_number"`
	Reason    string   `json:"reason"`
	Tags      []string `json:"tags"`
	Level     string   `json:"level"`
	Payload   string   `json:"payload"`
	Principal string   `json:"principal"`
	At        string   `json:"at"`
}

func (l *writeLake) asides(name string) []aside {
	l.t.Helper()
	var out []aside
	for _, text := range l.content(name + "__quarantine") {
		var a aside
		require.NoError(l.t, json.Unmarshal([]byte(text), &a))
		out = append(out, a)
	}
	return out
}

var aside1 = dataplane.WriteInput{OnViolation: dataplane.QuarantineViolations}

func TestRowsThatCannotLandAreSetAside(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	bad, secret := `{"id":"x","region":"EU"}`, order(3, "EU", "mail ada@example.org")
	out := l.wrote("orders", aside1, order(1, "EU", "a"), bad, secret, order(4, "US", "b"))
	require.EqualValues(t, 2, out.Rows)
	require.EqualValues(t, 2, out.Quarantined)
	require.Equal(t, "sales.orders__quarantine", out.QuarantineTable)
	require.Equal(t, []string{order(1, "EU", "a"), order(4, "US", "b")}, l.content("orders"))

	got := map[string]aside{}
	for _, a := range l.asides("orders") {
		got[a.Row] = a
	}
	require.Len(t, got, 2)
	require.Equal(t, bad, got["2"].Payload)
	require.Contains(t, got["2"].Reason, "id")
	require.Equal(t, "restricted", got["2"].Level)
	require.Empty(t, got["2"].Tags)
	require.Equal(t, secret, got["3"].Payload)
	require.Equal(t, []string{"email"}, got["3"].Tags)
	require.Equal(t, "confidential", got["3"].Level)
	require.NotContains(t, got["3"].Reason, "ada@example.org")
	for _, a := range got {
		require.Equal(t, out.AuditID, a.WriteID)
		require.Equal(t, "eve", a.Principal)
	}
	view := l.load("orders__quarantine")
	require.Equal(t, models.GovernedOnly, view.Row.WritePolicy)
	require.Equal(t, models.Restricted, view.Row.Classification)
	require.Len(t, l.records(out.AuditID), 2, "the audit is of what landed")

	again := l.wrote("orders", aside1, bad)
	require.Zero(t, again.SnapshotID, "nothing landed in the table itself")
	require.NotEmpty(t, again.AuditID)
	require.Len(t, l.asides("orders"), 3)
	write, err := l.db.GovernedWrite(t.Context(), again.AuditID)
	require.NoError(t, err)
	require.Equal(t, "sales.orders", write.TableName)
	require.NotZero(t, write.QuarantineSnapshotID)
}

// Whoever made the side table before, nobody reads rows there that are not for everybody.
func TestAQuarantineThatSomebodyMade(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	l.wrote("orders", aside1, `{"id":"x"}`)
	_, err := l.core.SetWritePolicy(t.Context(), l.owner(), "main.sales.orders__quarantine", models.OpenFull)
	require.NoError(t, err)
	_, err = l.core.SetGovernance(t.Context(), l.owner(), "main.sales.orders__quarantine", catalog.GovernanceInput{Level: models.Public})
	require.NoError(t, err)
	l.wrote("orders", aside1, `{"id":"y"}`)
	view := l.load("orders__quarantine")
	require.Equal(t, models.GovernedOnly, view.Row.WritePolicy)
	require.Equal(t, models.Restricted, view.Row.Classification)

	l.make(made{name: "other", version: 2})
	l.make(made{name: "other__quarantine", version: 2})
	_, err = l.write("other", aside1, `{"id":"x"}`)
	refused(t, err, fault.Invalid, "sales.other__quarantine")
	require.Empty(t, l.objects("other"))
}

func TestUpsertsSetAsideRowsWithoutAKey(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	l.govern("orders", "", []string{"region"}, nil)
	out := l.wrote("orders", dataplane.WriteInput{Mode: models.UpsertRows, OnViolation: dataplane.QuarantineViolations},
		order(1, "EU", "a"), `{"id":"2","note":"no region"}`, order(3, "EU", "c"))
	require.EqualValues(t, 1, out.Rows)
	require.EqualValues(t, 1, out.Superseded)
	require.EqualValues(t, 1, out.Quarantined)
	require.Contains(t, l.asides("orders")[0].Reason, "region")
}
