package dataplane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/models"
)

// pages reads all pages, and gives the ids in order, and the lengths of the tokens.
func (l *readLake) pages(caller policy.Caller, table string, in dataplane.QueryInput) (ids []string, tokens []string) {
	l.t.Helper()
	for {
		g, err := l.query(caller, table, in)
		require.NoError(l.t, err)
		ids = append(ids, idsIn(l.t, g)...)
		in.PageToken = g.head.NextPageToken
		if in.PageToken == "" {
			return ids, tokens
		}
		tokens = append(tokens, in.PageToken)
		require.Less(l.t, len(tokens), 10_000)
	}
}

func TestPagesAreTheWholeInOrder(t *testing.T) {
	l := newReadLake(t)
	l.create("people", people)
	l.many("people", 103, 20)
	l.govern("people", models.Internal, []string{"id"}, nil)
	var want []string
	for i := range 103 {
		want = append(want, fmt.Sprint(i))
	}
	for _, size := range []int{1, 7, 50, 103, 500} {
		for _, format := range rows.Formats() {
			ids, tokens := l.pages(l.analyst(), "people", dataplane.QueryInput{PageSize: size, Format: format})
			require.Equal(t, want, ids)
			require.Len(t, tokens, (103-1)/size)
		}
	}
	ids, _ := l.pages(l.analyst(), "people", dataplane.QueryInput{PageSize: 4, Where: "region = 'R3'", Limit: 10, Select: []string{"id"}})
	require.Equal(t, []string{"3", "8", "13", "18", "23", "28", "33", "38", "43", "48"}, ids, "a limit counts over all pages")
}

func TestPagesStayAtTheirSnapshot(t *testing.T) {
	l := newReadLake(t)
	l.create("people", people)
	l.many("people", 10, 5)
	l.govern("people", models.Internal, []string{"id"}, nil)
	first, err := l.query(l.analyst(), "people", dataplane.QueryInput{PageSize: 6})
	require.NoError(t, err)
	l.add("people", `[{"id":"-1"},{"id":"7"},{"id":"1000"}]`)
	second, err := l.query(l.analyst(), "people", dataplane.QueryInput{PageSize: 6, PageToken: first.head.NextPageToken})
	require.NoError(t, err)
	assert.Equal(t, []string{"6", "7", "8", "9"}, idsIn(t, second))
	assert.Equal(t, *first.head.SnapshotID, *second.head.SnapshotID)
	assert.Empty(t, second.head.NextPageToken)

	l.change("people", fmt.Sprintf(`{"action":"remove-snapshots","snapshot-ids":[%d]}`, *first.head.SnapshotID))
	_, err = l.query(l.analyst(), "people", dataplane.QueryInput{PageSize: 6, PageToken: first.head.NextPageToken})
	refused(t, err, fault.NotFound, "Start again")
}

func TestTokensAreGoodForOneQueryOfOnePrincipal(t *testing.T) {
	l := newReadLake(t)
	l.create("people", people)
	l.create("others", people)
	for _, table := range []string{"people", "others"} {
		l.many(table, 10, 5)
		l.govern(table, models.Internal, []string{"id"}, nil)
	}
	in := dataplane.QueryInput{PageSize: 3, Where: "id >= 0", Select: []string{"id", "region"}}
	first, err := l.query(l.analyst(), "people", in)
	require.NoError(t, err)
	in.PageToken = first.head.NextPageToken
	wrong := func(caller policy.Caller, table string, change func(*dataplane.QueryInput)) {
		t.Helper()
		other := in
		change(&other)
		_, err := l.query(caller, table, other)
		refused(t, err, fault.Invalid, "The page token is not one of this query")
	}
	wrong(l.holding("eve", models.Internal, nil, models.DataRead), "people", func(*dataplane.QueryInput) {})
	wrong(l.holding("ana", models.Internal, []string{"late"}, models.DataRead), "others", func(*dataplane.QueryInput) {})
	wrong(l.analyst(), "people", func(q *dataplane.QueryInput) { q.Where = "id >= 1" })
	wrong(l.analyst(), "people", func(q *dataplane.QueryInput) { q.Select = []string{"id"} })
	wrong(l.analyst(), "people", func(q *dataplane.QueryInput) { q.Limit = 100 })
	wrong(l.analyst(), "people", func(q *dataplane.QueryInput) { q.Filter = []byte(`{"type":"gt","term":"id","value":1}`) })
	for i := 0; i < len(in.PageToken); i += 7 {
		flipped := byte('A')
		if in.PageToken[i] == 'A' {
			flipped = 'B'
		}
		wrong(l.analyst(), "people", func(q *dataplane.QueryInput) { q.PageToken = in.PageToken[:i] + string(flipped) + in.PageToken[i+1:] })
	}
	wrong(l.analyst(), "people", func(q *dataplane.QueryInput) { q.PageToken = in.PageToken[:len(in.PageToken)-4] })

	in.PageSize = 2
	next, err := l.query(l.analyst(), "people", in)
	require.NoError(t, err, "the size of a page may change")
	assert.Equal(t, []string{"3", "4"}, idsIn(t, next))
	l.pass(25 * time.Hour)
	wrong(l.analyst(), "people", func(*dataplane.QueryInput) {})
}

func TestPagesStartAgainWhenMasksChange(t *testing.T) {
	l := newReadLake(t)
	l.create("people", people)
	l.many("people", 10, 5)
	l.govern("people", models.Internal, []string{"email"}, nil)
	in := dataplane.QueryInput{PageSize: 3}
	first, err := l.query(l.analyst(), "people", in)
	require.NoError(t, err)
	assert.Equal(t, []string{"0", "1", "2"}, idsIn(t, first), "in order of email")
	l.govern("people", models.Internal, []string{"email"}, map[string]models.ColumnGovernance{"email": {Sensitivity: models.Restricted}})
	in.PageToken = first.head.NextPageToken
	_, err = l.query(l.analyst(), "people", in)
	refused(t, err, fault.Invalid, "Start again")

	ids, _ := l.pages(l.analyst(), "people", dataplane.QueryInput{PageSize: 3})
	var physical []string
	for i := range 10 {
		physical = append(physical, fmt.Sprint((i*7919+13)%10))
	}
	assert.Equal(t, physical, ids, "an order by a masked column would tell of it: pages come as the rows lie")
	whole, _ := l.pages(l.owner(), "people", dataplane.QueryInput{PageSize: 3})
	assert.True(t, slices.IsSorted(whole), "who sees it has it in order")
}

func TestTokensTellNothingByTheirLength(t *testing.T) {
	l := newReadLake(t)
	l.create("words", `{"id":1,"name":"id","type":"string","required":true}`)
	l.add("words", `[{"id":"a"},{"id":"bb"},{"id":"ccc"},{"id":"dddd"},{"id":"eeeeeeee"}]`)
	l.govern("words", models.Internal, []string{"id"}, nil)
	_, tokens := l.pages(l.analyst(), "words", dataplane.QueryInput{PageSize: 1})
	require.Len(t, tokens, 4)
	lengths := map[int]bool{}
	for _, token := range tokens {
		lengths[len(token)] = true
		require.NotContains(t, token, "=")
		require.False(t, strings.ContainsAny(token, "+/"))
	}
	require.LessOrEqual(t, len(lengths), 2, "lengths come in steps")
}
