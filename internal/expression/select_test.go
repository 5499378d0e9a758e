package expression_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/fault"
)

func parse(t testing.TB, raw string) *expression.Filter {
	t.Helper()
	f, err := expression.Parse(json.RawMessage(raw), schema(), false)
	require.NoError(t, err, raw)
	return f
}

func selected(t testing.TB, f *expression.Filter, b batch) []int {
	t.Helper()
	rows, err := f.Select(b.column, b.rows)
	require.NoError(t, err, "%s", f.JSON())
	require.Equal(t, b.rows, rows.Len())
	out := slices.Collect(rows.Rows())
	require.Len(t, out, rows.Count())
	return out
}

// TestSelectIsSQL compares with a slow reference, for random filters over random rows of every type: as JSON, as it is
// written down again, and as text.
func TestSelectIsSQL(t *testing.T) {
	for trial := range uint64(150) {
		r := rand.New(rand.NewPCG(20260801, trial))
		b := randomBatch(r, []int{0, 1, 63, 64, 65, 150}[r.IntN(6)])
		for range 25 {
			e := randomExpr(r, 3)
			var want []int
			for row := range b.rows {
				if e.truth(b, row) == 1 {
					want = append(want, row)
				}
			}
			f := parse(t, e.json())
			require.Equal(t, want, selected(t, f, b), "trial %d: %s", trial, e.json())
			require.Equal(t, want, selected(t, parse(t, string(f.JSON())), b), "%s, written as %s", e.json(), f.JSON())
			require.Equal(t, want, selected(t, parse(t, string(f.Written())), b), "%s, written as %s", e.json(), f.Written())
			sql := e.sql(r)
			text, err := expression.ParseText(sql, schema())
			require.NoError(t, err, sql)
			require.Equal(t, want, selected(t, text, b), "trial %d: %s", trial, sql)
			if len(want) > 0 {
				require.True(t, f.May(b.summary), "%s leaves out rows %v", e.json(), want)
			}
		}
	}
}

// summary is what a writer says of a column.
func (b batch) summary(id int) expression.Summary {
	s := expression.Summary{OnlyNull: b.rows > 0, OnlyNaN: b.rows > 0}
	var typ expression.Type
	for _, c := range columns() {
		if c.id == id {
			typ = expression.TypeNamed(c.typ)
		}
	}
	var low, high any
	for _, v := range b.values[id] {
		f, float := v.(float64)
		nan := float && math.IsNaN(f)
		s.HasNull, s.HasNaN = s.HasNull || v == nil, s.HasNaN || nan
		s.OnlyNull, s.OnlyNaN = s.OnlyNull && v == nil, s.OnlyNaN && nan
		if v == nil || nan || !typ.Ordered() {
			continue
		}
		if low == nil || order(v, low) < 0 {
			low = v
		}
		if high == nil || order(v, high) > 0 {
			high = v
		}
	}
	s.SetBounds(bound(typ, low), bound(typ, high))
	return s
}

func TestTypesAreLookedFor(t *testing.T) {
	assert.Equal(t, int64(7), expression.TypeNamed("long").Bound([]byte{7, 0, 0, 0, 0, 0, 0, 0}))
	assert.Equal(t, "", expression.TypeNamed("string").Bound([]byte{}))
	assert.Nil(t, expression.TypeNamed("string").Bound(nil))
	assert.Equal(t, ratOf("1.25"), expression.TypeNamed("decimal(9,2)").Unscaled(125))
	assert.Equal(t, int64(125), expression.TypeNamed("int").Unscaled(125))
	assert.Nil(t, expression.TypeNamed("string").Unscaled(1))
}

func TestSummariesOfAnotherTypeSayNothing(t *testing.T) {
	f := parse(t, `{"type":"eq","term":"l","value":5}`)
	for _, s := range []expression.Summary{
		{Lower: int32(1), Upper: int32(2)}, {Lower: "a", Upper: "b"}, {Lower: int64(9), Upper: "b", Exact: true}, {Exact: true},
	} {
		assert.True(t, f.May(func(int) expression.Summary { return s }), "%v", s)
	}
	assert.False(t, f.May(func(int) expression.Summary { return expression.Summary{Lower: int64(6), Upper: int64(9)} }))
}

func TestTransformsAreEvaluated(t *testing.T) {
	b := batch{rows: 4, arrays: map[int]arrow.Array{}}
	for _, c := range columns() {
		switch c.path {
		case "l":
			b.arrays[c.id] = c.array([]any{whole(34), whole(-1), nil, whole(19)})
		case "at":
			b.arrays[c.id] = c.array([]any{whole(1_510_871_468_000_000), whole(-1), nil, whole(0)}) // 2017-11-16T22:31:08
		case "s":
			b.arrays[c.id] = c.array([]any{"iceberg", "ice", nil, "icé"})
		case "price":
			b.arrays[c.id] = c.array([]any{ratOf("10.65"), ratOf("-0.05"), nil, ratOf("0.49")})
		}
	}
	for raw, want := range map[string][]int{
		`{"type":"eq","term":{"type":"transform","transform":"bucket[16]","term":"l"},"value":3}`:                  {0}, // 2017239379, as the specification has it
		`{"type":"not-eq","term":{"type":"transform","transform":"bucket[16]","term":"l"},"value":3}`:              {1, 3},
		`{"type":"eq","term":{"type":"transform","transform":"truncate[10]","term":"l"},"value":-10}`:              {1},
		`{"type":"gt-eq","term":{"type":"transform","transform":"truncate[10]","term":"l"},"value":10}`:            {0, 3},
		`{"type":"in","term":{"type":"transform","transform":"year","term":"at"},"values":[47,-1]}`:                {0, 1},
		`{"type":"eq","term":{"type":"transform","transform":"month","term":"at"},"value":574}`:                    {0},
		`{"type":"lt","term":{"type":"transform","transform":"day","term":"at"},"value":"1970-01-01"}`:             {1},
		`{"type":"eq","term":{"type":"transform","transform":"hour","term":"at"},"value":0}`:                       {3},
		`{"type":"not","child":{"type":"lt","term":{"type":"transform","transform":"day","term":"at"},"value":0}}`: {0, 3},
		`{"type":"eq","term":{"type":"transform","transform":"truncate[3]","term":"s"},"value":"ice"}`:             {0, 1},
		`{"type":"starts-with","term":{"type":"transform","transform":"truncate[3]","term":"s"},"value":"icé"}`:    {3},
		`{"type":"eq","term":{"type":"transform","transform":"truncate[50]","term":"price"},"value":"10.50"}`:      {0},
		`{"type":"eq","term":{"type":"transform","transform":"truncate[50]","term":"price"},"value":-0.5}`:         {1},
		`{"type":"is-null","term":{"type":"transform","transform":"bucket[16]","term":"s"}}`:                       {2},
		`{"type":"not-null","term":{"type":"transform","transform":"bucket[16]","term":"s"}}`:                      {0, 1, 3},
	} {
		f := parse(t, raw)
		assert.Equal(t, want, selected(t, f, b), raw)
		assert.Equal(t, want, selected(t, parse(t, string(f.JSON())), b), "%s", f.JSON())
	}
}

func TestASetOfNothingHasNotEvenNull(t *testing.T) {
	b := batch{rows: 2, arrays: map[int]arrow.Array{3: columns()[2].array([]any{whole(1), nil})}}
	assert.Empty(t, selected(t, parse(t, `{"type":"in","term":"l","values":[]}`), b))
	assert.Equal(t, []int{0, 1}, selected(t, parse(t, `{"type":"not-in","term":"l","values":[]}`), b))
	assert.True(t, parse(t, `{"type":"not","child":{"type":"in","term":"l","values":[]}}`).IsAll())
}

func TestColumnsOfComparisonsThatOnlyEnginesMake(t *testing.T) {
	f := parse(t, `{"type":"and","left":{"type":"eq","term":"i","value":1},"right":{"type":"eq","left":{"type":"reference","name":"l"},"right":{"type":"reference","name":"day"}}}`)
	assert.Equal(t, []int{2, 3, 8}, f.Columns())
	err := f.Evaluable()
	assert.Equal(t, fault.Invalid, fault.CodeOf(err))
	assert.Contains(t, fault.PublicMessage(err), `"l"`)
	_, err = f.Select(nil, 1)
	assert.Equal(t, fault.Invalid, fault.CodeOf(err))
	assert.True(t, f.May(func(int) expression.Summary { return expression.Unknown() }))
}

func TestSelectSaysWhatItCannotFilter(t *testing.T) {
	f := parse(t, `{"type":"lt","term":"at","value":5}`)
	for name, a := range map[string]arrow.Array{
		"another type": columns()[12].array([]any{"x"}),
		"another unit": columns()[11].array([]any{whole(1)}),
		"too few rows": columns()[9].array(nil),
		"a list":       columns()[17].array([]any{""}),
	} {
		_, err := f.Select(func(int) (arrow.Array, error) { return a, nil }, 1)
		assert.Equal(t, fault.Internal, fault.CodeOf(err), name)
	}
	lost := errors.New("lost")
	_, err := f.Select(func(int) (arrow.Array, error) { return nil, lost }, 1)
	assert.ErrorIs(t, err, lost)
}

func TestFiltersAreJoined(t *testing.T) {
	a, b := parse(t, `{"type":"gt","term":"l","value":1}`), parse(t, `{"type":"lt","term":"i","value":1}`)
	assert.Equal(t, []int{2, 3}, expression.And(a, b).Columns())
	assert.JSONEq(t, `{"type":"or","left":{"type":"gt","term":"l","value":1},"right":{"type":"lt","term":"i","value":1}}`, string(expression.Or(a, b).JSON()))
	assert.True(t, expression.And(a, expression.None()).IsNone())
	assert.True(t, expression.Or(a, expression.All()).IsAll())
	assert.True(t, expression.Or(a, nil).IsAll())
	assert.Equal(t, a.JSON(), expression.And(a, nil).JSON())
	assert.Equal(t, a.JSON(), expression.Or(expression.None(), a).JSON())
	for _, raw := range []string{"", "null", " ", "true"} {
		assert.True(t, parse(t, raw).IsAll(), "%q", raw)
	}
	assert.Empty(t, expression.All().Columns())
}

func TestJSONHasTheSchemasNames(t *testing.T) {
	f, err := expression.Parse(json.RawMessage(`{"type":"not","child":{"type":"eq","left":{"type":"literal","value":5},"right":{"type":"reference","name":"IN.N"}}}`), schema(), true)
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"not","child":{"type":"eq","term":"in.n","value":5}}`, string(f.JSON()))
	assert.Equal(t, expression.TypeNamed("long"), f.Type(18))
}

func TestBitmaps(t *testing.T) {
	b := expression.NewBitmap(70, true)
	assert.True(t, b.All())
	b.Remove(3)
	b.Remove(69)
	assert.Equal(t, 68, b.Count())
	assert.False(t, b.Has(69))
	other := expression.NewBitmap(70, false)
	assert.True(t, other.None())
	other.Add(3)
	other.Add(64)
	b.And(other)
	assert.Equal(t, []int{64}, slices.Collect(b.Rows()))
	b.Or(other)
	assert.Equal(t, []int{3, 64}, slices.Collect(b.Rows()))
	for row := range b.Rows() {
		assert.Equal(t, 3, row)
		break
	}
}

func BenchmarkSelect(b *testing.B) {
	const rows = 1 << 20
	r := rand.New(rand.NewPCG(1, 2))
	ints, texts := make([]any, rows), make([]any, rows)
	for i := range rows {
		ints[i], texts[i] = whole(r.Int64N(1000)), string(rune('a'+r.IntN(26)))+"bcdefgh"
		if i%100 == 0 {
			ints[i] = nil
		}
	}
	arrays := map[int]arrow.Array{3: columns()[2].array(ints), 13: columns()[12].array(texts)}
	members := `"abcdefgh","cbcdefgh","ebcdefgh","gbcdefgh","ibcdefgh","kbcdefgh","mbcdefgh","obcdefgh","qbcdefgh"`
	for name, raw := range map[string]string{
		"int less":    `{"type":"lt","term":"l","value":500}`,
		"int equal":   `{"type":"eq","term":"l","value":500}`,
		"text equal":  `{"type":"eq","term":"s","value":"mbcdefgh"}`,
		"text less":   `{"type":"lt","term":"s","value":"m"}`,
		"text prefix": `{"type":"starts-with","term":"s","value":"mbc"}`,
		"text in 9":   `{"type":"in","term":"s","values":[` + members + `]}`,
		"both":        `{"type":"and","left":{"type":"lt","term":"l","value":500},"right":{"type":"eq","term":"s","value":"mbcdefgh"}}`,
	} {
		f := parse(b, raw)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := f.Select(func(id int) (arrow.Array, error) { return arrays[id], nil }, rows); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

// bound is a value of the tests as it is held in summaries.
func bound(typ expression.Type, v any) any {
	if r, ok := v.(interface{ IsInt() bool }); ok && r.IsInt() {
		if n := typ.Unscaled(0); n == int64(0) {
			return v.(*big.Rat).Num().Int64()
		}
	}
	return v
}
