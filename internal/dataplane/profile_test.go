package dataplane_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func TestPreview(t *testing.T) {
	l := withPeople(t)
	l.govern("people", models.Internal, nil, map[string]models.ColumnGovernance{
		"email": {Sensitivity: models.Confidential, Tag: "email"}, "home.street": {Sensitivity: models.Restricted},
	})
	p, err := l.data.Preview(t.Context(), l.analyst(), "main.sales.people", 2)
	require.NoError(t, err)
	assert.JSONEq(t, `[{"id":"1","email":"a***@example.org","region":"EU","salary":"10.50","home":{"city":"Ulm","street":"***"}},
		{"id":"2","email":null,"region":"US","salary":null,"home":{"city":null,"street":"***"}}]`, string(p.Rows))
	columns, err := json.Marshal(p.Columns[:4])
	require.NoError(t, err)
	assert.JSONEq(t, `[{"name":"id","type":"long","level":"internal","masked":false},
		{"name":"email","type":"string","level":"confidential","tag":"email","masked":true,"mask":"partial"},
		{"name":"region","type":"string","level":"internal","masked":false},
		{"name":"salary","type":"decimal(10, 2)","level":"internal","masked":false}]`, string(columns))
	assert.Equal(t, "home", p.Columns[4].Name)
	assert.Equal(t, models.Restricted, p.Columns[4].Level, "as its most sensitive part")
	assert.True(t, p.Columns[4].Masked)
	assert.EqualValues(t, 3, *p.RowCount)
	_, err = l.data.Preview(t.Context(), l.analyst(), "main.sales.people", 501)
	refused(t, err, fault.Invalid, "1 to 500")
}

func profileOf(t *testing.T, l *readLake, p dataplane.Profile) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, c := range p.Columns {
		text := "nothing"
		if c.Nulls != nil {
			text = fmt.Sprintf("nulls %d", *c.Nulls)
		}
		if c.Distinct != nil {
			text += fmt.Sprintf(" distinct %d", *c.Distinct)
		}
		if c.Min != nil {
			text += fmt.Sprintf(" %s..%s", c.Min, c.Max)
		}
		out[c.Name] = text
	}
	return out
}

func TestProfile(t *testing.T) {
	l := withPeople(t)
	p, err := l.data.Profile(t.Context(), l.owner(), "main.sales.people")
	require.NoError(t, err)
	assert.EqualValues(t, 3, p.Rows)
	assert.False(t, p.Sampled)
	assert.Equal(t, map[string]string{
		"id": `nulls 0 distinct 3 "1".."3"`, "email": `nulls 1 distinct 2 "ada@example.org".."bob@example.com"`,
		"region": `nulls 0 distinct 2 "EU".."US"`, "salary": `nulls 1 distinct 2 "10.50".."99.99"`,
		"home.city": `nulls 1 distinct 2 "Rom".."Ulm"`, "home.street": `nulls 2 distinct 1 "A 1".."A 1"`,
	}, profileOf(t, l, p))

	l.govern("people", models.Internal, nil, map[string]models.ColumnGovernance{
		"email": {Sensitivity: models.Confidential, Tag: "email"}, "salary": {Sensitivity: models.Confidential, Mask: "truncate"},
		"region": {Sensitivity: models.Confidential, Mask: "hash"}, "home.street": {Sensitivity: models.Confidential}, "id": {Sensitivity: models.Restricted, Mask: "partial"},
	})
	p, err = l.data.Profile(t.Context(), l.analyst(), "main.sales.people")
	require.NoError(t, err)
	assert.EqualValues(t, 3, p.Rows)
	assert.Equal(t, map[string]string{
		"id": "nothing", "email": `nulls 1 distinct 2 "a***@example.org".."b***@example.com"`, "region": "nulls 0 distinct 2",
		"salary": `nulls 1 distinct 2 "10.00".."99.00"`, "home.city": `nulls 1 distinct 2 "Rom".."Ulm"`, "home.street": "nothing",
	}, profileOf(t, l, p))
}

func TestProfileOfEveryType(t *testing.T) {
	l := newReadLake(t)
	var fields, low, high []string
	for i, c := range [][3]string{
		{"boolean", "false", "true"}, {"int", "-5", "7"}, {"long", `"-9007199254740993"`, `"9007199254740993"`}, {"float", "-1.5", "2.5"},
		{"double", "-0.25", `"Infinity"`}, {"decimal(30,3)", `"-1.500"`, `"12345678901234567890.125"`}, {"date", `"1969-12-31"`, `"2026-01-31"`},
		{"time", `"00:00:00.000001"`, `"23:59:59.000000"`}, {"timestamp", `"1900-01-01T00:00:00.000000"`, `"2026-01-31T12:00:00.000001"`},
		{"timestamptz", `"1999-01-01T00:00:00.000000Z"`, `"2026-01-31T12:00:00.000000Z"`}, {"string", `""`, `"z"`},
		{"uuid", `"00000000-0000-0000-0000-000000000001"`, `"ffffffff-0000-0000-0000-000000000001"`}, {"fixed[2]", `"AAE="`, `"/wE="`}, {"binary", `""`, `"/w=="`},
	} {
		fields = append(fields, fmt.Sprintf(`{"id":%d,"name":"c%d","type":"%s","required":false}`, i+1, i, c[0]))
		low, high = append(low, fmt.Sprintf(`"c%d":%s`, i, c[1])), append(high, fmt.Sprintf(`"c%d":%s`, i, c[2]))
	}
	l.create("types", strings.Join(fields, ","))
	l.add("types", "[{"+strings.Join(high, ",")+"},{"+strings.Join(low, ",")+"}]", "[{},{"+strings.Join(low, ",")+`}]`)
	p, err := l.data.Profile(t.Context(), l.owner(), "main.sales.types")
	require.NoError(t, err)
	for i, c := range p.Columns {
		assert.Equal(t, low[i], fmt.Sprintf(`"c%d":%s`, i, c.Min), c.Type)
		assert.Equal(t, high[i], fmt.Sprintf(`"c%d":%s`, i, c.Max), c.Type)
		assert.EqualValues(t, 1, *c.Nulls)
		assert.EqualValues(t, 2, *c.Distinct)
	}
}

// NaN is greater than all other numbers to filters, and tells nobody how far the numbers of a column reach.
func TestProfileLeavesNaNOut(t *testing.T) {
	l := newReadLake(t)
	l.create("scores", `{"id":1,"name":"score","type":"double","required":false}`)
	l.add("scores", `[{"score":1.5},{"score":"NaN"},{"score":-2.5},{"score":null}]`)
	p, err := l.data.Profile(t.Context(), l.owner(), "main.sales.scores")
	require.NoError(t, err)
	assert.Regexp(t, `^nulls 1 distinct \d -2.5..1.5$`, profileOf(t, l, p)["score"])
}

func TestAnswersSayWhichColumnsAreMasked(t *testing.T) {
	l := withPeople(t)
	l.govern("people", models.Internal, nil, map[string]models.ColumnGovernance{
		"id": {Sensitivity: models.Restricted, Mask: "hash"}, "email": {Sensitivity: models.Confidential, Tag: "email"},
	})
	g, err := l.query(l.analyst(), "people", dataplane.QueryInput{Select: []string{"id", "email", "region"}, Limit: 1})
	require.NoError(t, err)
	assert.Contains(t, g.body.String(), `"fields":[{"id":1,"name":"id","required":false,"type":"string","mask":"hash"},`+
		`{"id":2,"name":"email","required":false,"type":"string","mask":"partial"},{"id":3,"name":"region","required":false,"type":"string"}]`)
}
