package tableio

import (
	"strconv"
	"strings"

	"github.com/apache/iceberg-go"
)

// metricsMode says which statistics a column has in manifests.
type metricsMode struct {
	counts bool // of values, nulls and NaN, and the size
	bounds bool
	length int // of a bound of text or bytes; 0 for whole values
}

// The properties that say it, and how many columns have statistics where none does.
const (
	metricsDefault  = "write.metadata.metrics.default"
	metricsColumn   = "write.metadata.metrics.column."
	metricsInferred = "write.metadata.metrics.max-inferred-column-defaults"
	inferredColumns = 100
	boundLength     = 16
)

// metricsModes gives the mode of each column that has statistics, by field id: the leaves that are not in a list or map.
// An odd value of a property counts as if it was not there.
func (l *layout) metricsModes() map[int]metricsMode {
	usual, given := parseMetricsMode(l.properties[metricsDefault])
	limit := int64(1) << 62
	if !given {
		usual = metricsMode{counts: true, bounds: true, length: boundLength}
		limit = l.size(metricsInferred, inferredColumns)
	}
	modes := map[int]metricsMode{}
	seen := int64(0)
	leaves(l.schema.Fields(), "", func(path string, f iceberg.NestedField) {
		seen++
		mode, own := parseMetricsMode(l.properties[metricsColumn+path])
		switch {
		case own:
			modes[f.ID] = mode
		case seen <= limit:
			modes[f.ID] = usual
		}
	})
	return modes
}

// leaves calls fn with each column that has values of its own, in structs too.
func leaves(fields []iceberg.NestedField, parent string, fn func(path string, f iceberg.NestedField)) {
	for _, f := range fields {
		switch t := f.Type.(type) {
		case *iceberg.StructType:
			leaves(t.FieldList, parent+f.Name+".", fn)
		case *iceberg.ListType, *iceberg.MapType:
		default:
			fn(parent+f.Name, f)
		}
	}
}

func parseMetricsMode(text string) (metricsMode, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	switch text {
	case "none":
		return metricsMode{}, true
	case "counts":
		return metricsMode{counts: true}, true
	case "full":
		return metricsMode{counts: true, bounds: true}, true
	}
	length, ok := strings.CutPrefix(text, "truncate(")
	if !ok {
		return metricsMode{}, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(length, ")"))
	if err != nil || n <= 0 {
		return metricsMode{}, false
	}
	return metricsMode{counts: true, bounds: true, length: n}, true
}
