package main

import (
	"context"
	"errors"

	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/fault"
)

// requireExternal tells what api, worker and root need and have no default for.
func requireExternal(cfg *config.Config) error {
	switch {
	case cfg.Database.URL == "":
		return usageError{fault.New(fault.Invalid, "no database is configured: set SLUICE_DATABASE_URL")}
	case len(cfg.Storage.Warehouses) == 0:
		return usageError{fault.New(fault.Invalid, "no warehouse is configured: set --warehouse or SLUICE_WAREHOUSE")}
	}
	return nil
}

// openExternal opens the configured database and object store, and refuses a schema that is not this program's.
func (c *cli) openExternal(ctx context.Context) (*base, error) {
	if err := requireExternal(c.cfg); err != nil {
		return nil, err
	}
	r, err := ring(c.cfg)
	if err != nil {
		return nil, err
	}
	w, err := configuredWarehouse(ctx, c.cfg, warehouses(c.cfg))
	if err != nil {
		return nil, err
	}
	b, err := openBase(ctx, c.cfg, c.logger(), c.cfg.Database.URL.Reveal(), w, r)
	if err != nil {
		return nil, err
	}
	if err := b.store.CheckSchema(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// stopping logs that a stop has begun; what it gives logs that it is over.
func (b *base) stopping() (stopped func()) {
	b.log.Info("stopping")
	return func() { b.log.Info("stopped") }
}

// waitFor returns when ctx ends, or with what made going on impossible.
func waitFor(ctx context.Context, server *httpServer, fatal <-chan error) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-server.ended:
		return errors.Join(errors.New("the HTTP server ended"), err)
	case err := <-fatal:
		return err
	}
}
