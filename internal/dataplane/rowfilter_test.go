package dataplane_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// show lets the members of roles see the rows that match.
func (l *readLake) show(table string, filters ...models.RowFilter) {
	l.t.Helper()
	before := l.load(table).Row
	row := before
	row.RowFilters.V = filters
	require.NoError(l.t, l.db.UpdateGovernance(l.t.Context(), before, row, models.AuditEvent{EventID: uuid.NewString(), Type: models.AuditRowFiltersChanged, At: l.time(), Allowed: true}))
}

func regionFilter(role, region string) models.RowFilter {
	return models.RowFilter{Role: role, Filter: "region = '" + region + "'", Expression: json.RawMessage(`{"type":"eq","term":"region","value":"` + region + `"}`)}
}

func TestRowFilters(t *testing.T) {
	l := withPeople(t)
	l.show("people", regionFilter("europe", "EU"), regionFilter("america", "US"), models.RowFilter{Role: "all", Filter: "true", Expression: json.RawMessage("true")})
	in := dataplane.QueryInput{Select: []string{"id"}}
	for _, tt := range []struct {
		roles []string
		want  []string
	}{
		{[]string{"europe"}, []string{`{"id":"1"}`, `{"id":"3"}`}},
		{[]string{"america", "other"}, []string{`{"id":"2"}`}},
		{[]string{"america", "europe"}, []string{`{"id":"1"}`, `{"id":"2"}`, `{"id":"3"}`}},
		{[]string{"all"}, []string{`{"id":"1"}`, `{"id":"2"}`, `{"id":"3"}`}},
		{[]string{"other"}, []string{}}, {nil, []string{}},
	} {
		assert.Equal(t, tt.want, l.rows(l.analyst(tt.roles...), "people", in), "%v", tt.roles)
	}
	assert.Empty(t, l.rows(l.owner(), "people", in), "stewards are no exception")

	g, err := l.query(l.analyst("europe"), "people", dataplane.QueryInput{})
	require.NoError(t, err)
	assert.Nil(t, g.head.Rows, "how many rows there are is not for who sees some of them")
	p, err := l.data.Preview(t.Context(), l.analyst("europe"), "main.sales.people", 0)
	require.NoError(t, err)
	assert.Nil(t, p.RowCount)
	assert.NotContains(t, string(p.Rows), `"US"`)
	profile, err := l.data.Profile(t.Context(), l.analyst("europe"), "main.sales.people")
	require.NoError(t, err)
	assert.EqualValues(t, 2, profile.Rows)
}

func TestRowFiltersSeeTrueValues(t *testing.T) {
	l := withPeople(t)
	l.govern("people", models.Internal, nil, map[string]models.ColumnGovernance{"region": {Sensitivity: models.Restricted}})
	l.show("people", regionFilter("europe", "EU"))
	assert.Equal(t, []string{`{"id":"1","region":"***"}`, `{"id":"3","region":"***"}`},
		l.rows(l.analyst("europe"), "people", dataplane.QueryInput{Select: []string{"id", "region"}}))
}

func TestRowFiltersFollowTheirColumn(t *testing.T) {
	l := withPeople(t)
	first, _ := l.load("people").Document.CurrentSnapshotID()
	l.change("people",
		`{"action":"add-schema","last-column-id":8,"schema":{"type":"struct","schema-id":1,"fields":[
			{"id":1,"name":"id","type":"long","required":true},{"id":3,"name":"area","type":"string","required":false},
			{"id":8,"name":"region","type":"string","required":false}]}}`,
		`{"action":"set-current-schema","schema-id":1}`)
	in := dataplane.QueryInput{Select: []string{"id"}, SnapshotID: &first}
	l.show("people", models.RowFilter{Role: "europe", Expression: json.RawMessage(`{"type":"eq","term":"area","value":"EU"}`)})
	assert.Equal(t, []string{`{"id":"1"}`, `{"id":"3"}`}, l.rows(l.analyst("europe"), "people", in), "area was called region then")

	l.show("people", regionFilter("europe", "EU"))
	_, err := l.query(l.analyst("europe"), "people", in)
	refused(t, err, fault.Forbidden, "needs a column that this snapshot does not have")
	assert.Empty(t, l.rows(l.analyst(), "people", in))
	l.show("people", models.RowFilter{Role: "europe", Expression: json.RawMessage(`{"type":"eq","term":"gone","value":"EU"}`)})
	_, err = l.query(l.analyst("europe"), "people", dataplane.QueryInput{})
	refused(t, err, fault.Forbidden, "does not fit its columns any more")
}

func TestPagesStartAgainWhenRowFiltersChange(t *testing.T) {
	l := withPeople(t)
	l.show("people", regionFilter("europe", "EU"))
	in := dataplane.QueryInput{PageSize: 1}
	g, err := l.query(l.analyst("europe"), "people", in)
	require.NoError(t, err)
	in.PageToken = g.head.NextPageToken
	_, err = l.query(l.analyst("europe"), "people", in)
	require.NoError(t, err)
	l.show("people", regionFilter("europe", "US"))
	_, err = l.query(l.analyst("europe"), "people", in)
	refused(t, err, fault.Invalid, "Start again")
}
