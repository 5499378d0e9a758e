package classify

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

func customers() *arrow.Schema {
	text := arrow.BinaryTypes.String
	return arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "email", Type: text, Nullable: true},
		{Name: "note", Type: text, Nullable: true},
		{Name: "address", Type: arrow.StructOf(arrow.Field{Name: "street", Type: text, Nullable: true}, arrow.Field{Name: "zip", Type: text, Nullable: true}), Nullable: true},
		{Name: "visits", Type: arrow.ListOf(text), Nullable: true},
	}, nil)
}

func batch(t testing.TB, schema *arrow.Schema, rows ...string) arrow.RecordBatch {
	t.Helper()
	b, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader("["+strings.Join(rows, ",")+"]"))
	require.NoError(t, err)
	return b
}

type columns = map[string]models.ColumnGovernance

// names gives the tags of a row by their names.
func names(c *Classifier, tags uint32) string {
	var out []string
	for i, name := range c.TagNames() {
		if tags&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

func TestRowsHaveTheHighestLevelOfWhatIsInThem(t *testing.T) {
	c := New(Spec{Level: models.Internal, Schema: customers(), Columns: columns{
		"id": {Sensitivity: models.Public}, "email": {Sensitivity: models.Confidential, Tag: "Email"}, "address": {Sensitivity: models.Confidential, Tag: "postal"},
		"address.zip": {Sensitivity: models.Public}, "visits.element": {Sensitivity: models.Restricted, Tag: "visit"},
	}})
	for _, row := range []struct {
		json, level, tags string
	}{
		{`{"id":1}`, "public", ""},
		{`{"id":1,"note":"hello"}`, "internal", ""},
		{`{"id":1,"email":"ann@example.com"}`, "confidential", "email"},
		{`{"id":1,"email":"none"}`, "confidential", "email"},
		{`{"id":1,"address":{"street":null,"zip":null}}`, "public", ""},
		{`{"id":1,"address":{"street":null,"zip":"10115"}}`, "confidential", "postal"},
		{`{"id":1,"visits":[]}`, "restricted", "visit"},
		{`{"id":1,"note":"x","email":"a@b.de","visits":["x"]}`, "restricted", "email visit"},
	} {
		r := c.Classify(batch(t, customers(), row.json))
		assert.Equal(t, row.level, string(levelOf(r.Levels[0])), row.json)
		assert.Equal(t, row.tags, names(c, r.Tags[0]), row.json)
		assert.Empty(t, r.Violations, row.json)
	}
}

func TestRowsOfTablesWithoutColumnsSaidHaveTheirLevel(t *testing.T) {
	for _, level := range []models.Classification{models.Public, models.Restricted, "unheard of"} {
		c := New(Spec{Level: level, Schema: customers()})
		r := c.Classify(batch(t, customers(), `{"id":1}`, `{"id":2,"note":"x"}`))
		want := level
		if level == "unheard of" {
			want = models.Restricted
		}
		for i := range r.Levels {
			assert.Equal(t, want, levelOf(r.Levels[i]))
		}
	}
	optional := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	c := New(Spec{Level: models.Confidential, Schema: optional, Columns: columns{"a": {Sensitivity: models.Public}}})
	r := c.Classify(batch(t, optional, `{"a":1}`, `{"a":null}`))
	assert.Equal(t, []uint8{0, 2}, r.Levels, "a row without a value is what its table is")
}

func TestContentThatIsMoreSensitiveThanItsColumnIsAViolation(t *testing.T) {
	for name, c := range map[string]struct {
		spec Spec
		row  string
		want []Violation
		tags string
	}{
		"a card in a note": {Spec{Level: models.Internal}, `{"id":1,"note":"card 4111 1111 1111 1111"}`,
			[]Violation{{Column: "note", Tag: "pan", Level: models.Restricted, Message: "column note has the number of a payment card, which is restricted, and the column is internal"}}, "pan"},
		"in a struct": {Spec{Level: models.Public}, `{"id":1,"address":{"street":"10.0.0.1","zip":"1"}}`,
			[]Violation{{Column: "address.street", Tag: "ip", Level: models.Internal, Message: "column address.street has an IP address, which is internal, and the column is public"}}, "ip"},
		"two at once": {Spec{Level: models.Internal}, `{"id":1,"note":"ann@example.com, 123-45-6789"}`,
			[]Violation{{Column: "note", Tag: "email", Level: models.Confidential}, {Column: "note", Tag: "national_id", Level: models.Restricted}}, "email national_id"},
		"as sensitive as its table":   {Spec{Level: models.Confidential}, `{"id":1,"note":"ann@example.com"}`, nil, "email"},
		"as sensitive as its column":  {Spec{Level: models.Internal, Columns: columns{"note": {Sensitivity: models.Restricted}}}, `{"id":1,"note":"4111 1111 1111 1111"}`, nil, "pan"},
		"governed with the tag":       {Spec{Level: models.Internal, Columns: columns{"note": {Sensitivity: models.Internal, Tag: "EMAIL"}}}, `{"id":1,"note":"ann@example.com"}`, nil, "email"},
		"governed with another tag":   {Spec{Level: models.Internal, Columns: columns{"note": {Sensitivity: models.Internal, Tag: "phone"}}}, `{"id":1,"note":"ann@example.com"}`, []Violation{{Column: "note", Tag: "email", Level: models.Confidential}}, "email phone"},
		"a struct with the tag":       {Spec{Level: models.Internal, Columns: columns{"address": {Sensitivity: models.Internal, Tag: "email"}}}, `{"id":1,"address":{"street":"ann@example.com","zip":"1"}}`, nil, "email"},
		"an address in an internal":   {Spec{Level: models.Internal}, `{"id":1,"note":"10.0.0.1"}`, nil, "ip"},
		"one bare number":             {Spec{Level: models.Internal}, `{"id":1,"note":"4111111111111111"}`, nil, ""},
		"in a list, not looked into":  {Spec{Level: models.Internal}, `{"id":1,"visits":["ann@example.com"]}`, nil, ""},
		"a label that is high enough": {Spec{Level: models.Internal, Label: models.Restricted}, `{"id":1}`, nil, ""},
		"a label that is too low": {Spec{Level: models.Internal, Label: models.Internal, Columns: columns{"email": {Sensitivity: models.Confidential}}}, `{"id":1,"email":"x"}`,
			[]Violation{{Level: models.Confidential, Message: "labelled internal, but the row is confidential"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.spec.Schema = customers()
			classifier := New(c.spec)
			r := classifier.Classify(batch(t, customers(), c.row))
			assert.Equal(t, c.tags, names(classifier, r.Tags[0]))
			require.Len(t, r.Violations, len(c.want), "%+v", r.Violations)
			for i, want := range c.want {
				got := r.Violations[i]
				if want.Message == "" {
					want.Message = got.Message
				}
				assert.Equal(t, want, got)
				assert.GreaterOrEqual(t, r.Levels[0], rank(want.Level))
			}
		})
	}
}

func TestALabelRaisesItsRows(t *testing.T) {
	c := New(Spec{Level: models.Public, Label: models.Confidential, Schema: customers()})
	r := c.Classify(batch(t, customers(), `{"id":1}`))
	assert.Equal(t, []uint8{2}, r.Levels)
}

// bare gives rows of notes that are card numbers as bare digits, and others.
func bare(cards, others, nulls int) []string {
	var rows []string
	for range cards {
		rows = append(rows, `{"id":1,"note":"4111111111111111"}`)
	}
	for range others {
		rows = append(rows, `{"id":1,"note":"4111111111111112"}`)
	}
	for range nulls {
		rows = append(rows, `{"id":1,"note":null}`)
	}
	return rows
}

func TestBareNumbersCountWhereAColumnIsFullOfThem(t *testing.T) {
	for name, c := range map[string]struct{ cards, others, nulls, want int }{
		"all of twenty": {20, 0, 0, 20}, "too few values": {19, 0, 0, 0}, "three of five": {12, 8, 0, 12}, "less": {11, 9, 0, 0}, "with nulls": {12, 8, 50, 12}, "too few with nulls": {19, 0, 50, 0},
	} {
		t.Run(name, func(t *testing.T) {
			classifier := New(Spec{Level: models.Internal, Schema: customers()})
			r := classifier.Classify(batch(t, customers(), bare(c.cards, c.others, c.nulls)...))
			assert.Len(t, r.Violations, c.want)
			for i, v := range r.Violations {
				assert.Equal(t, i, v.Row)
				assert.Equal(t, "pan", v.Tag)
			}
		})
	}
}

// Numbers of ten digits that are not those of phones are none, although two of three look so.
func TestOrdersAreNoPhones(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var orders, phones []string
	for range 500 {
		orders = append(orders, fmt.Sprintf(`{"id":1,"note":"%010d"}`, r.Int64N(10_000_000_000)))
		phones = append(phones, fmt.Sprintf(`{"id":1,"note":"212%03d%04d"}`, 300+r.IntN(100), r.IntN(10_000)))
	}
	classifier := New(Spec{Level: models.Internal, Schema: customers()})
	assert.Empty(t, classifier.Classify(batch(t, customers(), orders...)).Violations)
	assert.GreaterOrEqual(t, len(classifier.Classify(batch(t, customers(), phones...)).Violations), 480)
}

func TestNothingOfAValueIsTold(t *testing.T) {
	classifier := New(Spec{Level: models.Internal, Schema: customers(), Label: models.Public})
	r := classifier.Classify(batch(t, customers(), `{"id":1,"note":"ann.secret@example.com 4111 1111 1111 1111 +49 30 1234567 DE89370400440532013000 123-45-6789"}`))
	require.Len(t, r.Violations, 6)
	for _, v := range r.Violations {
		assert.NotContains(t, v.Message, "secret")
		assert.NotRegexp(t, `\d`, v.Message)
	}
}

func TestManyTagsShareTheLastBit(t *testing.T) {
	governed := columns{}
	var fields []arrow.Field
	var row []string
	for i := range 40 {
		name := fmt.Sprintf("c%02d", i)
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64, Nullable: true})
		governed[name] = models.ColumnGovernance{Tag: "tag" + name}
		row = append(row, fmt.Sprintf("%q:1", name))
	}
	schema := arrow.NewSchema(fields, nil)
	c := New(Spec{Level: models.Internal, Columns: governed, Schema: schema})
	require.Len(t, c.TagNames(), 32)
	r := c.Classify(batch(t, schema, "{"+strings.Join(row, ",")+"}", `{"c39":1}`))
	assert.Equal(t, "other", names(c, r.Tags[1]))
	assert.Contains(t, names(c, r.Tags[0]), "tagc00 ")
}

func TestSuggestions(t *testing.T) {
	var rows []string
	for i := range 30 {
		note := fmt.Sprintf("user%d@example.com", i)
		if i%6 == 0 {
			note = "unknown"
		}
		rows = append(rows, fmt.Sprintf(`{"id":1,"email":"user%d@example.com","note":%q,"address":{"street":"Main St %d","zip":"10.0.0.%d"}}`, i, note, i, i))
	}
	schema := customers()
	halves := []arrow.RecordBatch{batch(t, schema, rows[:15]...), batch(t, schema, rows[15:]...)}
	assert.Equal(t, []Suggestion{
		{Column: "email", Tag: "email", Matches: 30, Values: 30}, {Column: "note", Tag: "email", Matches: 25, Values: 30}, {Column: "address.zip", Tag: "ip", Matches: 30, Values: 30},
	}, suggested(Spec{Schema: schema}, halves...))
	assert.Equal(t, []Suggestion{{Column: "note", Tag: "email", Matches: 25, Values: 30}},
		suggested(Spec{Schema: schema, Columns: columns{"email": {Tag: "x"}, "address": {Sensitivity: models.Public}}}, halves...), "of what is governed nothing is suggested")
	assert.Empty(t, suggested(Spec{Schema: schema}, halves[0]), "too few values")

	classifier := New(Spec{Level: models.Restricted, Schema: schema})
	for _, b := range halves {
		classifier.Classify(b)
	}
	assert.Equal(t, suggested(Spec{Schema: schema}, halves...), classifier.Suggestions(), "rows that land are looked at too")
	assert.Equal(t, []Suggestion{{Column: "note", Tag: "pan", Matches: 25, Values: 25}}, suggested(Spec{Schema: schema}, batch(t, schema, bare(25, 0, 9)...)))
}

// suggested gives what is to be suggested of rows that lie in a table already.
func suggested(s Spec, batches ...arrow.RecordBatch) []Suggestion {
	c := New(s)
	for _, b := range batches {
		c.Observe(b)
	}
	return c.Suggestions()
}

// Values below a NULL struct are nobody's, and parts of arrays are looked at as parts.
func TestPartsOfBatches(t *testing.T) {
	schema := customers()
	whole := batch(t, schema, `{"id":1,"note":"ann@example.com","address":{"street":"bob@example.com","zip":null}}`, `{"id":2,"note":null,"address":null}`, `{"id":3,"note":"cy@example.com","address":null}`)
	part := whole.NewSlice(1, 3)
	c := New(Spec{Level: models.Internal, Schema: schema})
	r := c.Classify(part)
	require.Len(t, r.Violations, 1)
	assert.Equal(t, 1, r.Violations[0].Row)
	assert.Equal(t, []string{"", "email"}, []string{names(c, r.Tags[0]), names(c, r.Tags[1])})
}

func BenchmarkClassify(b *testing.B) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arrow.BinaryTypes.String}}, nil)
	for name, value := range map[string]func(i int) string{
		"words":  func(int) string { return "the quick brown fox jumps over the lazy dog" },
		"emails": func(i int) string { return fmt.Sprintf("customer-%d@example.com", i) },
		"prose":  func(i int) string { return fmt.Sprintf("Order %d of 2024-01-02 went to Berlin at 10:30, 3 items", i) },
		"cards":  func(int) string { return "4111 1111 1111 1111" },
		"uuids":  func(i int) string { return fmt.Sprintf("0197a0de-7c1b-7f5e-9d3c-%012x", i) },
	} {
		b.Run(name, func(b *testing.B) {
			builder := array.NewStringBuilder(memory.DefaultAllocator)
			size := 0
			for i := range 16_384 {
				v := value(i)
				size += len(v)
				builder.Append(v)
			}
			column := builder.NewArray()
			in := array.NewRecordBatch(schema, []arrow.Array{column}, int64(column.Len()))
			c := New(Spec{Level: models.Restricted, Schema: schema})
			b.SetBytes(int64(size))
			for b.Loop() {
				c.Classify(in)
			}
		})
	}
}
