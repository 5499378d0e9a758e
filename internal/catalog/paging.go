package catalog

// maxChunk bounds how many rows are read at once to fill a page.
const maxChunk = 1000

// visible gives a page of what show lets through of a list in order of keys. Hidden rows do not shorten a page: one that
// is not full is the last. A page goes on after the key that ended the one before, so that rows which come and go
// meanwhile neither repeat nor hide others.
func visible[R, T any](page Page, list func(Page) ([]R, error), key func(R) string, show func(R) (T, bool, error)) (ListPage[T], error) {
	var out ListPage[T]
	last := page.After
	chunk := Page{After: page.After}
	if page.Limit > 0 {
		chunk.Limit = min(page.Limit+1, maxChunk)
	}
	for {
		rows, err := list(chunk)
		if err != nil {
			return ListPage[T]{}, err
		}
		for _, row := range rows {
			item, ok, err := show(row)
			if err != nil {
				return ListPage[T]{}, err
			}
			if !ok {
				continue
			}
			if page.Limit > 0 && len(out.Items) == page.Limit {
				out.Next = last
				return out, nil
			}
			out.Items = append(out.Items, item)
			last = key(row)
		}
		if chunk.Limit == 0 || len(rows) < chunk.Limit {
			return out, nil
		}
		chunk.After = key(rows[len(rows)-1])
		chunk.Limit = min(2*chunk.Limit, maxChunk)
	}
}
