package main

import (
	"context"
	"errors"

	"github.com/sluice-data/sluice/internal/store"
)

// openStore opens the database of a command that works on it directly, and refuses a schema that is not this program's.
func (c *cli) openStore(ctx context.Context, url string) (*store.Store, error) {
	st, err := store.Open(ctx, store.Config{URL: url, MaxConns: c.cfg.Database.MaxConns, Logger: c.logger()})
	if err != nil {
		return nil, err
	}
	if err := st.CheckSchema(ctx); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
}
