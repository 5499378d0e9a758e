package expression_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/fault"
)

// FuzzParseText: whatever is sent is read or refused as the client's, and what is read selects the same when it is written
// as JSON and read again.
func FuzzParseText(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		f.Add(randomExpr(r, 2).sql(r))
	}
	for _, seed := range []string{
		"", "NOT NOT i = 1", "((s LIKE 'x%'))", `"a""b" = 1`, "l BETWEEN -5 AND 1e3", "price IN (1e-100, .5)", "atz < '2026-01-31'", "f = 0.1",
		"1<i", "true", "date = DATE 'x'", "'", "--", "i = 99999999999999999999", "in.n IS NULL", "s = '\u2028'", "clock > TIME '10:00:00.0000001'",
	} {
		f.Add(seed)
	}
	b := randomBatch(rand.New(rand.NewPCG(1, 2)), 100)
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := expression.ParseText(text, schema())
		checkFilter(t, b, filter, err)
	})
}

// FuzzParse is the same for expressions of the protocol.
func FuzzParse(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		f.Add([]byte(randomExpr(r, 2).json()))
	}
	for _, seed := range []string{
		`{"type":"lt","left":{"type":"reference","name":"day"},"right":"2020-01-01"}`, `{"type":"is-nan","child":{"type":"reference","id":4}}`,
		`{"type":"eq","left":{"type":"apply","function":"bucket","arguments":[3,{"type":"reference","name":"l"}]},"right":{"type":"literal","value":1}}`,
		`{"type":"gt","term":{"type":"transform","transform":"truncate[4]","term":"s"},"value":"x"}`, `{"type":"eq","left":{"type":"reference","id":1},"right":{"type":"reference","id":2}}`,
		`{"type":"in","term":{"type":"transform","transform":"truncate[0]","term":"l"},"values":[1]}`, `{"type":"eq","term":{"type":"transform","transform":"bucket[0]","term":"s"},"value":1}`,
	} {
		f.Add([]byte(seed))
	}
	b := randomBatch(rand.New(rand.NewPCG(1, 2)), 100)
	f.Fuzz(func(t *testing.T, raw []byte) {
		filter, err := expression.Parse(raw, schema(), true)
		checkFilter(t, b, filter, err)
	})
}

func checkFilter(t *testing.T, b batch, filter *expression.Filter, err error) {
	if err != nil {
		if fault.CodeOf(err) != fault.Invalid || fault.PublicMessage(err) == "" {
			t.Fatalf("gives %v", err)
		}
		return
	}
	rows, err := filter.Select(b.column, b.rows)
	if filter.Evaluable() != nil {
		return
	}
	if err != nil {
		t.Fatalf("cannot be evaluated: %v", err)
	}
	if !rows.None() && !filter.May(b.summary) {
		t.Fatalf("%s leaves out rows", filter.JSON())
	}
	if !json.Valid(filter.JSON()) {
		t.Fatalf("is written as %q", filter.JSON())
	}
	again, err := expression.Parse(filter.JSON(), schema(), false)
	if err != nil {
		t.Fatalf("is written as %s, which gives %v", filter.JSON(), err)
	}
	same, err := again.Select(b.column, b.rows)
	if err != nil || !slices.Equal(slices.Collect(rows.Rows()), slices.Collect(same.Rows())) {
		t.Fatalf("is written as %s, which selects other rows (%v)", filter.JSON(), err)
	}
}
