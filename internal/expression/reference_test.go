package expression_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
)

// expr is a filter that is evaluated row by row, the slow way.
type expr struct {
	op     string
	column col
	values []literal
	parts  []expr
}

func randomExpr(r *rand.Rand, depth int) expr {
	if depth > 0 && r.IntN(5) < 3 {
		switch r.IntN(4) {
		case 0:
			return expr{op: "not", parts: []expr{randomExpr(r, depth-1)}}
		case 1:
			return expr{op: "or", parts: []expr{randomExpr(r, depth-1), randomExpr(r, depth-1)}}
		}
		return expr{op: "and", parts: []expr{randomExpr(r, depth-1), randomExpr(r, depth-1)}}
	}
	if r.IntN(20) == 0 {
		return expr{op: []string{"true", "false"}[r.IntN(2)]}
	}
	all := columns()
	return randomTest(r, all[r.IntN(len(all))])
}

func randomTest(r *rand.Rand, c col) expr {
	ops := []string{"is-null", "not-null"}
	if len(c.pool) > 0 {
		ops = append(ops, "lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq", "in", "not-in", "in", "not-in")
	}
	switch c.typ {
	case "string":
		ops = append(ops, "starts-with", "not-starts-with")
	case "float", "double":
		ops = append(ops, "is-nan", "not-nan")
	}
	e := expr{op: ops[r.IntN(len(ops))], column: c}
	count := 1
	switch e.op {
	case "is-null", "not-null", "is-nan", "not-nan":
		count = 0
	case "in", "not-in":
		count = 1 + r.IntN(14) // around the number from which on members are looked up
	}
	for range count {
		from := c.pool
		if len(c.odd) > 0 && r.IntN(4) == 0 {
			from = c.odd
		}
		e.values = append(e.values, from[r.IntN(len(from))])
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
	var list []string
	for _, v := range e.values {
		list = append(list, v.json)
	}
	out := `{"type":"` + e.op + `","term":` + quote(e.column.path)
	switch {
	case e.op == "in" || e.op == "not-in":
		out += `,"values":[` + strings.Join(list, ",") + `]`
	case len(list) == 1:
		out += `,"value":` + list[0]
	}
	return out + `}`
}

func (e expr) sql(r *rand.Rand) string {
	switch e.op {
	case "true", "false":
		return e.op
	case "not":
		return "NOT (" + e.parts[0].sql(r) + ")"
	case "and", "or":
		return "(" + e.parts[0].sql(r) + " " + strings.ToUpper(e.op) + " " + e.parts[1].sql(r) + ")"
	}
	name := e.column.path
	if r.IntN(2) == 0 {
		name = `"` + strings.ReplaceAll(name, ".", `"."`) + `"`
	}
	if symbol, ok := map[string]string{"lt": "<", "lt-eq": "<=", "gt": ">", "gt-eq": ">=", "eq": "=", "not-eq": "<>"}[e.op]; ok {
		if r.IntN(4) == 0 {
			mirror := map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "!="}
			return e.values[0].sql + " " + mirror[symbol] + " " + name
		}
		return name + symbol + e.values[0].sql
	}
	word := map[string]string{
		"is-null": " IS NULL", "not-null": " is not null", "is-nan": " IS NAN", "not-nan": " IS NOT NAN",
		"in": " IN ", "not-in": " NOT IN ", "starts-with": " LIKE ", "not-starts-with": " NOT LIKE ",
	}[e.op]
	var list []string
	for _, v := range e.values {
		list = append(list, v.sql)
	}
	switch e.op {
	case "in", "not-in":
		return name + word + "(" + strings.Join(list, ", ") + ")"
	case "starts-with", "not-starts-with":
		prefix := e.values[0].value.(string)
		return name + word + "'" + doubled(strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(prefix)) + "%'"
	}
	return name + word
}

// truth is 1, 0, or -1 for unknown.
func (e expr) truth(b batch, row int) int {
	of := func(v bool) int {
		if v {
			return 1
		}
		return 0
	}
	switch e.op {
	case "true", "false":
		return of(e.op == "true")
	case "not":
		if v := e.parts[0].truth(b, row); v >= 0 {
			return 1 - v
		}
		return -1
	case "and", "or":
		decides := of(e.op == "or")
		x, y := e.parts[0].truth(b, row), e.parts[1].truth(b, row)
		switch {
		case x == decides || y == decides:
			return decides
		case x < 0 || y < 0:
			return -1
		}
		return 1 - decides
	case "is-null":
		return of(b.values[e.column.id][row] == nil)
	case "not-null":
		return of(b.values[e.column.id][row] != nil)
	}
	v := b.values[e.column.id][row]
	if v == nil {
		return -1
	}
	return of(e.holds(v))
}

func (e expr) holds(v any) bool {
	f, float := v.(float64)
	switch e.op {
	case "is-nan":
		return float && math.IsNaN(f)
	case "not-nan":
		return !float || !math.IsNaN(f)
	case "starts-with":
		return strings.HasPrefix(v.(string), e.values[0].value.(string))
	case "not-starts-with":
		return !strings.HasPrefix(v.(string), e.values[0].value.(string))
	case "in", "not-in":
		among := false
		for _, w := range e.values {
			among = among || order(v, w.value) == 0
		}
		return among == (e.op == "in")
	}
	o := order(v, e.values[0].value)
	switch e.op {
	case "lt":
		return o < 0
	case "lt-eq":
		return o <= 0
	case "gt":
		return o > 0
	case "gt-eq":
		return o >= 0
	case "eq":
		return o == 0
	}
	return o != 0
}

// order compares as SQL engines do: NaN above all numbers.
func order(a, b any) int {
	switch a := a.(type) {
	case bool:
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) // false, true
	case *big.Rat:
		return a.Cmp(b.(*big.Rat))
	case string:
		return strings.Compare(a, b.(string))
	}
	x, y := a.(float64), b.(float64)
	switch {
	case math.IsNaN(x) && math.IsNaN(y), x == y:
		return 0
	case math.IsNaN(x), x > y && !math.IsNaN(y):
		return 1
	}
	return -1
}
