package expression

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/fault"
)

// icebergFunctions is the reserved catalog of the functions that partition transforms are.
const icebergFunctions = "iceberg_functions"

// bindTerm finds the column that a term names, and the transform of it where there is one. Terms are names, references
// by name or id, transforms, and the functions that are transforms.
func (p *parser) bindTerm(pred *predicate, raw json.RawMessage) error {
	if raw == nil {
		return wrongFilter("a predicate names no column")
	}
	if name, ok := text(raw); ok {
		return p.bindColumn(pred, name)
	}
	n, ok := object(raw)
	if !ok {
		return wrongFilter("a term is %s, not a column", clip(raw))
	}
	switch kind, _ := text(n["type"]); kind {
	case "reference":
		return p.bindReference(pred, n)
	case "transform":
		name, ok := text(n["transform"])
		if !ok {
			return wrongFilter("a transform has no name")
		}
		return p.bindTransform(pred, name, n["term"])
	case "apply":
		return p.bindFunction(pred, n)
	}
	return wrongFilter("%s is no term", clip(n["type"]))
}

func (p *parser) bindColumn(pred *predicate, name string) error {
	col, err := p.columns.Find(name, p.ignoreCase)
	pred.column, pred.typ = col, col.Type
	return err
}

func (p *parser) bindReference(pred *predicate, n node) error {
	if raw := n["id"]; raw != nil {
		id, err := strconv.Atoi(string(raw))
		col, ok := p.columns.byID[id]
		if err != nil || !ok {
			return fault.New(fault.Invalid, "The filter names the column with the id %s, which the table's schema does not have.", clip(raw))
		}
		pred.column, pred.typ = col, col.Type
		return nil
	}
	name, ok := text(either(n["name"], n["term"]))
	if !ok {
		return wrongFilter("a reference has no name")
	}
	return p.bindColumn(pred, name)
}

// bindTransform binds a transform of a reference. Nested transforms are none.
func (p *parser) bindTransform(pred *predicate, name string, term json.RawMessage) error {
	if err := p.bindTerm(pred, term); err != nil {
		return err
	}
	if pred.transform != nil || pred.vague {
		return wrongFilter("a transform is of a column alone")
	}
	transform, err := iceberg.ParseTransform(name)
	if err != nil {
		return wrongFilter("%q is no transform", name)
	}
	if _, identity := transform.(iceberg.IdentityTransform); identity {
		return nil
	}
	result, ok := resultType(transform, pred.column.Type)
	if _, void := transform.(iceberg.VoidTransform); !ok || void {
		return fault.New(fault.Invalid, "The filter applies %s to column %q, whose type %s it does not take.", name, pred.column.Path, pred.column.Type.name)
	}
	pred.transform, pred.typ = transform, result
	return nil
}

// bindFunction reads transforms written as functions: bucket(16, id) is the transform bucket[16].
func (p *parser) bindFunction(pred *predicate, n node) error {
	name, ok := functionName(n["function"])
	var args []json.RawMessage
	if !ok || json.Unmarshal(n["arguments"], &args) != nil {
		return wrongFilter("a function has no name or no list of arguments")
	}
	switch {
	case len(args) == 2 && (name == "bucket" || name == "truncate"):
		width := args[0]
		if wrapped, ok := object(width); ok {
			width = wrapped["value"]
		}
		return p.bindTransform(pred, name+"["+string(width)+"]", args[1])
	case len(args) == 1 && slices.Contains([]string{"identity", "year", "month", "day", "hour"}, name):
		return p.bindTransform(pred, name, args[0])
	}
	return fault.New(fault.Invalid, "The filter calls the function %q, which is none. Use a partition transform with its arguments, or leave it out and filter further yourself.", name)
}

func functionName(raw json.RawMessage) (string, bool) {
	if name, ok := text(raw); ok {
		return name, true
	}
	identifier := raw
	if n, ok := object(raw); ok {
		if catalog, named := text(n["catalog"]); named && catalog != icebergFunctions {
			return "", false
		}
		identifier = n["identifier"]
	}
	var parts []string
	if json.Unmarshal(identifier, &parts) != nil || len(parts) != 1 {
		return "", false
	}
	return parts[0], true
}
