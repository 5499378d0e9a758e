package dataplane_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/models"
)

// secrets is a table with columns that the analyst sees and columns that show the same in every row.
const secrets = `
	{"id":1,"name":"id","type":"long","required":true},
	{"id":2,"name":"region","type":"string","required":false},
	{"id":3,"name":"secret","type":"string","required":false},
	{"id":4,"name":"amount","type":"decimal(20,4)","required":false},
	{"id":5,"name":"hidden","type":"int","required":true},
	{"id":6,"name":"home","required":false,"type":{"type":"struct","fields":[
		{"id":7,"name":"city","type":"string","required":false},
		{"id":8,"name":"street","type":"string","required":false}]}},
	{"id":9,"name":"words","required":false,"type":{"type":"list","element-id":10,"element":"string","element-required":false}},
	{"id":11,"name":"cards","required":false,"type":{"type":"list","element-id":12,"element-required":false,"element":{"type":"struct","fields":[
		{"id":13,"name":"pan","type":"string","required":false}]}}},
	{"id":14,"name":"score","type":"double","required":false}`

func governSecrets(l *readLake, table, identity string) {
	l.govern(table, models.Internal, []string{identity}, map[string]models.ColumnGovernance{
		"secret": {Sensitivity: models.Restricted}, "amount": {Sensitivity: models.Confidential, Mask: "redact"},
		"hidden": {Sensitivity: models.Confidential, Mask: "null"}, "home.street": {Sensitivity: models.Confidential, Mask: "redact"},
		"words": {Sensitivity: models.Restricted, Tag: "email"}, "cards.element.pan": {Sensitivity: models.Restricted, Tag: "pan"},
	})
}

// twins are two tables that are laid out alike and differ in nothing but what is masked.
var twins = [2]string{"twin_a", "twin_b"} //nolint:gochecknoglobals // of tests

func makeTwins(l *readLake, random *rand.Rand, identity string) (first [2]int64) {
	for i, table := range twins {
		l.create(table, secrets)
		governSecrets(l, table, identity)
		seen := rand.New(rand.NewPCG(7, 7))                                         //nolint:gosec // the same for both
		masked := rand.New(rand.NewPCG(random.Uint64(), uint64(i)+random.Uint64())) //nolint:gosec // another for each
		for file := range 3 {
			var lines []string
			for row := range 40 {
				lines = append(lines, secretRow((row*17+file*40)%120, seen, masked))
			}
			id := l.add(table, "["+strings.Join(lines, ",")+"]")
			if file == 0 {
				first[i] = id
			}
		}
	}
	return first
}

func secretRow(id int, seen, masked *rand.Rand) string {
	row := map[string]any{"id": strconv.Itoa(id), "hidden": masked.IntN(1 << 30)}
	maybe := func(r *rand.Rand, name string, value any) {
		if r.IntN(4) > 0 {
			row[name] = value
		}
	}
	maybe(seen, "region", "R"+strconv.Itoa(seen.IntN(6)))
	maybe(seen, "score", seen.Float64())
	maybe(masked, "secret", strings.Repeat("s", masked.IntN(300)))
	maybe(masked, "amount", strconv.Itoa(masked.IntN(1000))+"."+strconv.Itoa(masked.IntN(10)))
	maybe(masked, "words", make([]string, masked.IntN(5)))
	maybe(masked, "cards", []any{map[string]any{"pan": "4111111111111111"}}[:masked.IntN(2)])
	home := map[string]any{}
	if seen.IntN(2) > 0 {
		home["city"] = "C" + strconv.Itoa(seen.IntN(3))
	}
	if masked.IntN(2) > 0 {
		home["street"] = strings.Repeat("x", masked.IntN(20))
	}
	if home["city"] != nil || masked.IntN(2) > 0 { // whether there is a home without a city is told by the street alone
		row["home"] = home
	}
	text, _ := json.Marshal(row)
	return string(text)
}

// step is one request of a session, made of both tables.
type step func(l *readLake, twin int) string

// TestNothingTellsTablesApartThatDifferInMaskedColumns is the promise of masks: whatever a caller without clearance asks, one
// thing after the other, both tables answer alike, to the byte.
func TestNothingTellsTablesApartThatDifferInMaskedColumns(t *testing.T) {
	for _, identity := range []string{"id", "secret"} { // what pages are in order of, where the caller sees it
		t.Run(identity, func(t *testing.T) { compareTwins(t, identity) })
	}
}

func compareTwins(t *testing.T, identity string) {
	random := rand.New(rand.NewPCG(2026, 3)) //nolint:gosec // so that a failure can be seen again
	l := newReadLake(t)
	first := makeTwins(l, random, identity)
	require.NotEqual(t, l.rows(l.owner(), twins[0], dataplane.QueryInput{Limit: 5}), l.rows(l.owner(), twins[1], dataplane.QueryInput{Limit: 5}),
		"the tables do differ for who sees all")
	answered, refusals, steps := 0, 0, 400
	if testing.Short() {
		steps = 100
	}
	for range steps {
		ask := randomStep(random, first)
		a, b := ask(l, 0), ask(l, 1)
		require.Equal(t, a, b)
		if strings.HasPrefix(a, "refused") {
			refusals++
		} else {
			answered++
		}
	}
	require.Greater(t, answered, steps/4, "most must be answers, or nothing was compared")
	require.Greater(t, refusals, steps/8)
}

func randomStep(random *rand.Rand, first [2]int64) step {
	switch random.IntN(12) {
	case 0:
		limit := random.IntN(60)
		return func(l *readLake, twin int) string {
			p, err := l.data.Preview(l.t.Context(), l.analyst(), "main.sales."+twins[twin], limit)
			text, _ := json.Marshal(p)
			return outcome(twin, p.SnapshotID, string(text), err)
		}
	case 1:
		return func(l *readLake, twin int) string {
			p, err := l.data.Profile(l.t.Context(), l.analyst(), "main.sales."+twins[twin])
			text, _ := json.Marshal(p)
			return outcome(twin, p.SnapshotID, string(text), err)
		}
	}
	in, past, pages := randomQuery(random), random.IntN(4) == 0, 1+random.IntN(6)
	return func(l *readLake, twin int) string {
		in := in
		if past {
			in.SnapshotID = &first[twin]
		}
		return session(l, twin, in, pages)
	}
}

// session asks for some pages, one after the other.
func session(l *readLake, twin int, in dataplane.QueryInput, pages int) string {
	var all strings.Builder
	for range pages {
		g, err := l.query(l.analyst(), twins[twin], in)
		said := outcome(twin, g.head.SnapshotID, g.body.String(), err)
		if token := g.head.NextPageToken; token != "" {
			said = strings.ReplaceAll(said, token, strings.Repeat("t", len(token)))
		}
		fmt.Fprintln(&all, said)
		if g.head.Rows != nil {
			fmt.Fprintln(&all, "of", *g.head.Rows)
		}
		fmt.Fprintln(&all, "token of", len(g.head.NextPageToken))
		if in.PageToken = g.head.NextPageToken; in.PageToken == "" {
			break
		}
	}
	return all.String()
}

// outcome is what a caller sees of one request, without the names of table and snapshot.
func outcome(twin int, snapshot *int64, body string, err error) string {
	if err != nil {
		body = "refused " + string(fault.CodeOf(err)) + " " + fault.PublicMessage(err) + body
	}
	if snapshot != nil {
		body = strings.ReplaceAll(body, strconv.FormatInt(*snapshot, 10), "the snapshot")
	}
	return strings.ReplaceAll(body, twins[twin], "the table")
}

func randomQuery(random *rand.Rand) dataplane.QueryInput {
	columns := []string{"id", "region", "secret", "amount", "hidden", "home", "home.city", "home.street", "words", "cards", "score", "absent"}
	wheres := []string{
		"", "", "", "region = 'R1'", "region IS NULL", "id > 60", "id IN (1, 2, 50, 110)", "home.city = 'C1'", "home.city IS NOT NULL", "score < 0.5",
		"secret = 's'", "secret IS NULL", "hidden > 5", "amount BETWEEN 1 AND 5 OR id = 1", "home.street LIKE 'x%'", "words IS NULL", "region = ", "absent = 1",
	}
	filters := []string{
		"", "", "", `{"type":"gt","term":"id","value":30}`, `{"type":"starts-with","term":"region","value":"R"}`, `{"type":"is-null","term":"amount"}`,
		`{"type":"not","child":{"type":"eq","term":"hidden","value":4}}`, `{"type":"eq","term":"home.city","value":"C2"}`, `{"type":"what"}`,
	}
	in := dataplane.QueryInput{Where: wheres[random.IntN(len(wheres))], Format: rows.Formats()[random.IntN(3)]}
	if f := filters[random.IntN(len(filters))]; f != "" {
		in.Filter = json.RawMessage(f)
	}
	if random.IntN(3) > 0 {
		for range 1 + random.IntN(4) {
			in.Select = append(in.Select, columns[random.IntN(len(columns))])
		}
		if random.IntN(4) > 0 {
			in.Select = withoutAbsent(in.Select)
		}
	}
	if random.IntN(2) == 0 {
		in.PageSize = 1 + random.IntN(30)
	}
	if random.IntN(3) == 0 {
		in.Limit = int64(1 + random.IntN(40))
	}
	return in
}

func withoutAbsent(names []string) []string {
	var out []string
	for _, n := range names {
		if n != "absent" {
			out = append(out, n)
		}
	}
	return out
}
