package dataplane_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/internal/tableread"
	"github.com/sluice-data/sluice/models"
)

const people = `
	{"id":1,"name":"id","type":"long","required":true},
	{"id":2,"name":"email","type":"string","required":false},
	{"id":3,"name":"region","type":"string","required":false},
	{"id":4,"name":"salary","type":"decimal(10,2)","required":false},
	{"id":5,"name":"home","required":false,"type":{"type":"struct","fields":[
		{"id":6,"name":"city","type":"string","required":false},
		{"id":7,"name":"street","type":"string","required":false}]}}`

func withPeople(t *testing.T, change ...func(*dataplane.Deps)) *readLake {
	l := newReadLake(t, change...)
	l.create("people", people)
	l.add("people",
		`[{"id":"1","email":"ada@example.org","region":"EU","salary":"10.50","home":{"city":"Ulm","street":"A 1"}},
		  {"id":"2","email":null,"region":"US","salary":null,"home":null}]`,
		`[{"id":"3","email":"bob@example.com","region":"EU","salary":"99.99","home":{"city":"Rom","street":null}}]`)
	return l
}

func TestQueryAnswersExactly(t *testing.T) {
	l := withPeople(t)
	g, err := l.query(l.owner(), "people", dataplane.QueryInput{Select: []string{"id", "salary", "home.city"}, Where: "region = 'EU'"})
	require.NoError(t, err)
	head, _ := l.load("people").Document.CurrentSnapshotID()
	assert.JSONEq(t, `{"rows":[{"id":"1","salary":"10.50","home":{"city":"Ulm"}},{"id":"3","salary":"99.99","home":{"city":"Rom"}}],
		"schema":{"type":"struct","schema-id":0,"fields":[
			{"id":1,"name":"id","required":true,"type":"long"},{"id":4,"name":"salary","required":false,"type":"decimal(10, 2)"},
			{"id":5,"name":"home","required":false,"type":{"type":"struct","fields":[{"id":6,"name":"city","required":false,"type":"string"}]}}]},
		"snapshot-id":"`+strconv.FormatInt(head, 10)+`","next-page-token":null}`, g.body.String())
	require.NotNil(t, g.head.Rows)
	assert.EqualValues(t, 3, *g.head.Rows)
}

func TestQuerySelectsRows(t *testing.T) {
	l := withPeople(t)
	for name, tt := range map[string]struct {
		in   dataplane.QueryInput
		want string
	}{
		"all":             {dataplane.QueryInput{}, "1 2 3"},
		"text":            {dataplane.QueryInput{Where: "salary > 20"}, "3"},
		"expression":      {dataplane.QueryInput{Filter: json.RawMessage(`{"type":"eq","term":"region","value":"US"}`)}, "2"},
		"both":            {dataplane.QueryInput{Filter: json.RawMessage(`{"type":"eq","term":"region","value":"EU"}`), Where: "id < 3"}, "1"},
		"null is unknown": {dataplane.QueryInput{Where: "NOT (salary > 20)"}, "1"},
		"nested":          {dataplane.QueryInput{Where: "home.city = 'Rom'"}, "3"},
		"limit":           {dataplane.QueryInput{Limit: 2}, "1 2"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.in.Select = []string{"id"}
			for _, format := range rows.Formats() {
				tt.in.Format = format
				g, err := l.query(l.owner(), "people", tt.in)
				require.NoError(t, err)
				assert.Equal(t, tt.want, strings.Join(idsIn(t, g), " "), format)
			}
		})
	}
}

// idsIn reads the column id of an answer in any format.
func idsIn(t testing.TB, g *got) []string {
	t.Helper()
	ids := []string{}
	switch g.head.Format {
	case rows.ArrowStream:
		r, err := ipc.NewReader(&g.body)
		require.NoError(t, err)
		defer r.Release()
		for r.Next() {
			column := r.RecordBatch().Column(r.Schema().FieldIndices("id")[0])
			for i := range column.Len() {
				ids = append(ids, column.ValueStr(i))
			}
		}
		require.NoError(t, r.Err())
	case rows.NDJSON:
		for line := range bytes.Lines(g.body.Bytes()) {
			ids = append(ids, idIn(t, string(line)))
		}
	default:
		for _, row := range g.rowsOf(t) {
			ids = append(ids, idIn(t, row))
		}
	}
	return ids
}

func idIn(t testing.TB, row string) string {
	t.Helper()
	var v struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal([]byte(row), &v), row)
	return v.ID
}

func TestQueryRefusesWhatMakesNoSense(t *testing.T) {
	l := withPeople(t)
	gone := int64(77)
	for name, tt := range map[string]struct {
		in   dataplane.QueryInput
		code fault.Code
		says string
	}{
		"unknown column":      {dataplane.QueryInput{Select: []string{"id", "e_mail"}}, fault.Invalid, `"e_mail"`},
		"another case":        {dataplane.QueryInput{Select: []string{"Email"}}, fault.Invalid, "Did you mean email"},
		"nothing selected":    {dataplane.QueryInput{Select: []string{}}, fault.Invalid, "at least one column"},
		"unknown in filter":   {dataplane.QueryInput{Where: "nope = 1"}, fault.Invalid, "nope"},
		"no filter":           {dataplane.QueryInput{Filter: json.RawMessage(`{"type":"eh"}`)}, fault.Invalid, ""},
		"broken text":         {dataplane.QueryInput{Where: "id ="}, fault.Invalid, ""},
		"unknown snapshot":    {dataplane.QueryInput{SnapshotID: &gone}, fault.NotFound, "snapshot 77"},
		"before all time":     {dataplane.QueryInput{AsOf: time.Unix(1000, 0)}, fault.NotFound, "1970-01-01T00:16:40Z"},
		"snapshot and time":   {dataplane.QueryInput{SnapshotID: &gone, AsOf: time.Unix(1, 0)}, fault.Invalid, "not both"},
		"page too large":      {dataplane.QueryInput{PageSize: 1001}, fault.Invalid, "at most 1000 rows"},
		"negative limit":      {dataplane.QueryInput{Limit: -1}, fault.Invalid, "at least 1"},
		"token of thin air":   {dataplane.QueryInput{PageToken: "AAAA"}, fault.Invalid, "Start again"},
		"token of other text": {dataplane.QueryInput{PageToken: "ä"}, fault.Invalid, "Start again"},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := l.query(l.owner(), "people", tt.in)
			refused(t, err, tt.code, tt.says)
			assert.Empty(t, g.body.String(), "nothing may be answered before it is known that it can be")
		})
	}
}

func TestWhoMayQuery(t *testing.T) {
	l := withPeople(t)
	_, err := l.query(l.holding("blind", models.Restricted, nil), "people", dataplane.QueryInput{})
	require.Equal(t, fault.NotFound, fault.CodeOf(err), "who holds nothing does not learn that there is a table")
	_, err = l.query(l.holding("reader", models.Restricted, nil, models.TableReadProperties), "people", dataplane.QueryInput{})
	refused(t, err, fault.Forbidden, "DATA_READ")
	_, err = l.query(l.owner(), "nothing", dataplane.QueryInput{})
	require.Equal(t, fault.NotFound, fault.CodeOf(err))
	g, err := l.query(l.analyst(), "people", dataplane.QueryInput{})
	require.NoError(t, err)
	require.Len(t, g.rowsOf(t), 3)

	records, err := l.db.StorageRecords(t.Context(), models.StorageRecordFilter{CatalogID: l.cat.ID, Limit: 10})
	require.NoError(t, err)
	require.Len(t, records, 1)
	assert.Equal(t, models.GovernedAccess, records[0].Mode)
	assert.Equal(t, "ana", records[0].Principal)
}

func TestMaskedColumns(t *testing.T) {
	l := withPeople(t)
	l.govern("people", models.Internal, nil, map[string]models.ColumnGovernance{
		"email": {Sensitivity: models.Confidential, Tag: "email"}, "salary": {Sensitivity: models.Restricted},
		"home.street": {Sensitivity: models.Confidential, Mask: "redact"}, "region": {Sensitivity: models.Internal},
	})
	assert.Equal(t, []string{
		`{"id":"1","email":"a***@example.org","region":"EU","salary":null,"home":{"city":"Ulm","street":"***"}}`,
		`{"id":"2","email":null,"region":"US","salary":null,"home":{"city":null,"street":"***"}}`,
		`{"id":"3","email":"b***@example.com","region":"EU","salary":null,"home":{"city":"Rom","street":"***"}}`,
	}, l.rows(l.analyst(), "people", dataplane.QueryInput{}))
	assert.Contains(t, l.rows(l.owner(), "people", dataplane.QueryInput{})[0], `"salary":"10.50"`)
	assert.Equal(t, []string{`{"salary":null}`, `{"salary":null}`, `{"salary":null}`},
		l.rows(l.analyst(), "people", dataplane.QueryInput{Select: []string{"salary"}}), "rows are counted though nothing of them is shown")

	for _, where := range []string{"email = 'ada@example.org'", "salary IS NULL", "id = 1 OR home.street = 'x'", "id = 1 AND NOT salary > 5"} {
		_, err := l.query(l.analyst(), "people", dataplane.QueryInput{Where: where})
		refused(t, err, fault.Forbidden, "may not be filtered by: the clearance of principal ana is internal")
		require.NotContains(t, err.Error(), "ada@example.org")
	}
	_, err := l.query(l.analyst(), "people", dataplane.QueryInput{Filter: json.RawMessage(`{"type":"not-null","term":"email"}`)})
	refused(t, err, fault.Forbidden, "Column email of table main.sales.people is confidential")
}

func TestTimeTravelKeepsMasks(t *testing.T) {
	l := withPeople(t)
	first, _ := l.load("people").Document.CurrentSnapshotID()
	before := l.time()
	l.pass(time.Hour)
	// email is called mail from now on, and what is called email is another column; region is gone.
	l.change("people",
		`{"action":"add-schema","last-column-id":8,"schema":{"type":"struct","schema-id":1,"fields":[
			{"id":1,"name":"id","type":"long","required":true},{"id":2,"name":"mail","type":"string","required":false},
			{"id":8,"name":"email","type":"string","required":false},{"id":4,"name":"salary","type":"decimal(10,2)","required":false}]}}`,
		`{"action":"set-current-schema","schema-id":1}`)
	l.add("people", `[{"id":"4","mail":"eve@example.net","email":"old","salary":"1.00"}]`)
	l.govern("people", models.Internal, nil, map[string]models.ColumnGovernance{"mail": {Sensitivity: models.Confidential, Tag: "email"}})

	assert.Equal(t, []string{
		`{"id":"1","mail":"a***@example.org","email":null,"salary":"10.50"}`, `{"id":"2","mail":null,"email":null,"salary":null}`,
		`{"id":"3","mail":"b***@example.com","email":null,"salary":"99.99"}`, `{"id":"4","mail":"e***@example.net","email":"old","salary":"1.00"}`,
	}, sorted(l.rows(l.analyst(), "people", dataplane.QueryInput{})))
	for name, in := range map[string]dataplane.QueryInput{"snapshot": {SnapshotID: &first}, "time": {AsOf: before.Add(time.Second)}} {
		assert.Equal(t, `{"id":"1","email":"a***@example.org","region":"***","salary":"10.50","home":null}`,
			l.rows(l.analyst(), "people", in)[0], "%s: the renamed column is masked, and so is what nobody can speak for any more", name)
		in.Where = "email = 'ada@example.org'"
		_, err := l.query(l.analyst(), "people", in)
		refused(t, err, fault.Forbidden, "Column email")
		require.Len(t, l.rows(l.owner(), "people", in), 1)
	}
}

func sorted(s []string) []string { slices.Sort(s); return s }

func TestWithoutGovernedColumnsADroppedOneIsAsTheTable(t *testing.T) {
	l := withPeople(t)
	first, _ := l.load("people").Document.CurrentSnapshotID()
	l.change("people",
		`{"action":"add-schema","last-column-id":7,"schema":{"type":"struct","schema-id":1,"fields":[{"id":1,"name":"id","type":"long","required":true}]}}`,
		`{"action":"set-current-schema","schema-id":1}`)
	assert.Contains(t, l.rows(l.analyst(), "people", dataplane.QueryInput{SnapshotID: &first})[0], `"region":"EU"`)
	assert.Equal(t, `{"id":"1"}`, l.rows(l.analyst(), "people", dataplane.QueryInput{})[0])
}

func TestWholeAnswersAreBounded(t *testing.T) {
	l := withPeople(t, func(d *dataplane.Deps) { d.Limits.Rows = 2 })
	_, err := l.query(l.owner(), "people", dataplane.QueryInput{})
	refused(t, err, fault.Invalid, "at most 2 rows")
	require.Len(t, l.rows(l.owner(), "people", dataplane.QueryInput{Limit: 2}), 2)
	require.Len(t, l.rows(l.owner(), "people", dataplane.QueryInput{Where: "id <> 2"}), 2)
	g, err := l.query(l.owner(), "people", dataplane.QueryInput{Format: rows.NDJSON})
	require.NoError(t, err)
	require.Len(t, idsIn(t, g), 3)
}

// shortPages has the memory for one row of a page.
type shortPages struct{ dataplane.Reader }

// Page implements dataplane.Reader.
func (s shortPages) Page(ctx context.Context, scan tableread.Scan, order []int, after *tableread.Position, _ int) (*tableread.Page, error) {
	return s.Reader.Page(ctx, scan, order, after, 1)
}

// A page may be short for want of memory; a whole answer may not.
func TestRowsThatTakeTooMuchMemory(t *testing.T) {
	l := withPeople(t, func(d *dataplane.Deps) { d.Reader = shortPages{d.Reader} })
	for _, in := range []dataplane.QueryInput{{}, {Limit: 2}} {
		_, err := l.query(l.owner(), "people", in)
		refused(t, err, fault.TooLarge, "page-size")
	}
	require.Len(t, l.rows(l.owner(), "people", dataplane.QueryInput{Limit: 1}), 1)
	g, err := l.query(l.owner(), "people", dataplane.QueryInput{PageSize: 3, Limit: 2})
	require.NoError(t, err)
	require.Len(t, idsIn(t, g), 1)
	g, err = l.query(l.owner(), "people", dataplane.QueryInput{PageSize: 3, Limit: 2, PageToken: g.head.NextPageToken})
	require.NoError(t, err)
	require.Len(t, idsIn(t, g), 1)
	require.Empty(t, g.head.NextPageToken)
}

func TestIdentitiesThatAreTooLongForATokenAreSaid(t *testing.T) {
	l := newReadLake(t)
	l.create("long", `{"id":1,"name":"id","type":"string","required":true}`)
	l.govern("long", models.Internal, []string{"id"}, nil)
	l.add("long", `[{"id":"`+strings.Repeat("a", 64<<10)+`"},{"id":"b"}]`)
	_, err := l.query(l.owner(), "long", dataplane.QueryInput{PageSize: 1})
	refused(t, err, fault.TooLarge, "too long for a page token")
	_, err = l.query(l.owner(), "long", dataplane.QueryInput{PageSize: 2})
	require.NoError(t, err)
}

func TestAnEmptyTable(t *testing.T) {
	l := newReadLake(t)
	l.create("nothing", people)
	for _, in := range []dataplane.QueryInput{{}, {PageSize: 5}, {Format: rows.NDJSON}, {Format: rows.ArrowStream}} {
		g, err := l.query(l.owner(), "nothing", in)
		require.NoError(t, err)
		require.Empty(t, idsIn(t, g))
		require.Nil(t, g.head.SnapshotID)
		require.EqualValues(t, 0, *g.head.Rows)
	}
}

// many appends files of n rows together, whose ids come in no order, and whose regions repeat.
func (l *readLake) many(table string, n, perFile int) {
	var file []string
	var files []string
	for i := range n {
		id := (i*7919 + 13) % n
		file = append(file, fmt.Sprintf(`{"id":"%d","email":"u%d@example.org","region":"R%d","salary":"%d.25","home":null}`, id, id, id%5, id))
		if len(file) == perFile || i == n-1 {
			files, file = append(files, "["+strings.Join(file, ",")+"]"), nil
		}
	}
	l.add(table, files...)
}
