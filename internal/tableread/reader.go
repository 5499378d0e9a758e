package tableread

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/cache"
)

// Reader reads rows of tables. It is safe for concurrent use.
type Reader struct {
	files   Files
	planner Planner
	options Options
	memory  *budget
	footers *cache.Cache[footerKey, *footer]
	spares  spares
}

// New makes a Reader.
func New(files Files, planner Planner, o Options) *Reader {
	o = o.withDefaults()
	return &Reader{files: files, planner: planner, options: o, memory: newBudget(o.Memory), footers: cache.New[footerKey, *footer](o.Memory / footersPart)}
}

// Schema gives the Arrow schema of what a scan gives. Errors are fault.Invalid for a column or schema that the table does
// not have, and fault.Unsupported for a column of a type that is not read.
func (r *Reader) Schema(s Scan) (*arrow.Schema, error) {
	p, err := r.newPlan(s)
	if err != nil {
		return nil, err
	}
	return p.arrow, nil
}
