package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/store"
)

// misplaced is a catalog that lies where no warehouse is, as after its data folder was moved: table locations are
// absolute, so none of its tables can be used.
type misplaced struct{ name, location string }

// misplacedCatalogs compares where catalogs lie with the roots that files may be in. With other, catalogs in object stores may
// lie elsewhere; whether those can be reached is for `sluice storage validate` to say.
func misplacedCatalogs(ctx context.Context, st *store.Store, roots []string, other bool) ([]misplaced, error) {
	catalogs, err := st.Catalogs(ctx)
	if err != nil {
		return nil, err
	}
	var found []misplaced
	for _, cat := range catalogs {
		inside := other && !strings.HasPrefix(cat.BaseLocation, "file:")
		for _, root := range roots {
			inside = inside || objects.WithinStrings(root, cat.BaseLocation)
		}
		if !inside {
			found = append(found, misplaced{cat.Name, cat.BaseLocation})
		}
	}
	return found, nil
}

func (m misplaced) detail(roots []string) string {
	return fmt.Sprintf("catalog %s lies in %s, which is not in the warehouse %s: its tables cannot be used", m.name, m.location, strings.Join(roots, ", "))
}

func (m misplaced) remedy() string {
	advice := "bring its files back there and start with --warehouse " + shellWord(m.location)
	if folder, ours := strings.CutSuffix(strings.TrimPrefix(m.location, "file://"), "/warehouse"); ours && strings.HasPrefix(m.location, "file://") {
		advice = "move the data folder back to " + shellWord(folder) + "; or, where the table files are still there, start with --warehouse " + shellWord(m.location)
	}
	return advice
}
