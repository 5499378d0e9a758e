package scan_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// expr is a filter that can be evaluated on rows.
type expr struct {
	op     string
	column string
	values []any
	parts  []expr
}

// randomExpr tests favourites more often than other columns.
func randomExpr(r *rand.Rand, depth int, favourites []col) expr {
	if depth > 0 && r.IntN(2) == 0 {
		switch r.IntN(5) {
		case 0:
			return expr{op: "not", parts: []expr{randomExpr(r, depth-1, favourites)}}
		case 1, 2:
			return expr{op: "or", parts: []expr{randomExpr(r, depth-1, favourites), randomExpr(r, depth-1, favourites)}}
		}
		return expr{op: "and", parts: []expr{randomExpr(r, depth-1, favourites), randomExpr(r, depth-1, favourites)}}
	}
	all := worldColumns()
	c := all[r.IntN(len(all))]
	if len(favourites) > 0 && r.IntN(3) > 0 {
		c = favourites[r.IntN(len(favourites))]
	}
	ops := []string{"lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq", "in", "not-in", "is-null", "not-null"}
	switch c.name {
	case "s":
		ops = append(ops, "starts-with", "not-starts-with")
	case "f":
		ops = append(ops, "is-nan", "not-nan")
	}
	e := expr{op: ops[r.IntN(len(ops))], column: c.name}
	count := 1
	switch e.op {
	case "is-null", "not-null", "is-nan", "not-nan":
		count = 0
	case "in", "not-in":
		count = 1 + r.IntN(4)
	}
	for len(e.values) < count {
		if v := c.random(r); v == v { //nolint:gocritic,staticcheck // NaN is no literal
			e.values = append(e.values, v)
		}
	}
	return e
}

func (e expr) json() string {
	switch e.op {
	case "true", "false":
		return e.op
	case "not":
		return `{"type":"not","child":` + e.parts[0].json() + `}`
	case "and", "or":
		return `{"type":"` + e.op + `","left":` + e.parts[0].json() + `,"right":` + e.parts[1].json() + `}`
	}
	out := `{"type":"` + e.op + `","term":"` + e.column + `"`
	var list []string
	for _, v := range e.values {
		list = append(list, columnNamed(e.column).toJSON(v))
	}
	switch {
	case e.op == "in" || e.op == "not-in":
		out += `,"values":[` + strings.Join(list, ",") + `]`
	case len(list) == 1:
		out += `,"value":` + list[0]
	}
	return out + `}`
}

// special tells whether iceberg-go and Sluice may rightly differ: with negations, and with NaN, which may be above all.
func (e expr) special() bool {
	return e.op == "not" || e.column == "f" || slices.ContainsFunc(e.parts, expr.special)
}

func (e expr) holds(v any) bool {
	f, isFloat := v.(float64)
	nan := isFloat && math.IsNaN(f)
	equal := func(w any) bool { return v != nil && !nan && order(v, w) == 0 }
	switch e.op {
	case "is-null":
		return v == nil
	case "not-null":
		return v != nil
	case "is-nan":
		return nan
	case "not-nan":
		return !nan
	case "eq", "in":
		return slices.ContainsFunc(e.values, equal)
	case "not-eq", "not-in":
		return !slices.ContainsFunc(e.values, equal)
	case "starts-with":
		return v != nil && strings.HasPrefix(v.(string), e.values[0].(string))
	case "not-starts-with":
		return v == nil || !strings.HasPrefix(v.(string), e.values[0].(string))
	}
	if v == nil || nan {
		return false
	}
	o := order(v, e.values[0])
	switch e.op {
	case "lt":
		return o < 0
	case "lt-eq":
		return o <= 0
	case "gt":
		return o > 0
	}
	return o >= 0
}

// twoValued is Iceberg's logic.
func (e expr) twoValued(one row) bool {
	switch e.op {
	case "true", "false":
		return e.op == "true"
	case "not":
		return !e.parts[0].twoValued(one)
	case "and":
		return e.parts[0].twoValued(one) && e.parts[1].twoValued(one)
	case "or":
		return e.parts[0].twoValued(one) || e.parts[1].twoValued(one)
	}
	return e.holds(one[e.column])
}

// sqlTrue tells whether SQL selects the row, with NaN above all numbers as Spark and DuckDB have it.
func sqlTrue(e expr, one row) bool { return e.threeValued(one) == 1 }

// threeValued is 1, 0, or -1 for unknown.
func (e expr) threeValued(one row) int {
	truth := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	switch e.op {
	case "true", "false":
		return truth(e.op == "true")
	case "not":
		if v := e.parts[0].threeValued(one); v >= 0 {
			return 1 - v
		}
		return -1
	case "and", "or":
		decides := truth(e.op == "or")
		a, b := e.parts[0].threeValued(one), e.parts[1].threeValued(one)
		switch {
		case a == decides || b == decides:
			return decides
		case a < 0 || b < 0:
			return -1
		}
		return 1 - decides
	}
	v := one[e.column]
	unary := e.op == "is-null" || e.op == "not-null" || e.op == "is-nan" || e.op == "not-nan"
	if v == nil && !unary {
		return -1
	}
	if f, ok := v.(float64); ok && math.IsNaN(f) && (e.op == "gt" || e.op == "gt-eq") {
		return 1
	}
	return truth(e.holds(v))
}

// literals gives the values of the literals by column and JSON.
func (e expr) literals(into map[string]any) map[string]any {
	for _, v := range e.values {
		into[e.column+" "+columnNamed(e.column).toJSON(v)] = v
	}
	for _, part := range e.parts {
		part.literals(into)
	}
	return into
}
