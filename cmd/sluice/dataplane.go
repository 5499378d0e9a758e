package main

import (
	"time"

	"github.com/sluice-data/sluice/api/data"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/internal/tableread"
	"github.com/sluice-data/sluice/workflows"
)

// What the secrets of the data plane are sealed for.
const (
	pageTokens = "page tokens"
	dataKeys   = "data keys"
)

// readersPart is how much of the memory of the data plane reads may take; writes hold what they are sent in the rest.
const readersPart = 2

// perRead is the memory that a governed read or write is thought to take.
const perRead = 16 << 20

// dataInFlight gives how many governed reads and writes a process serves at once: as many as have memory to get on with,
// and never so few that one principal has all of them.
func dataInFlight(d config.Data) int {
	return max(int(min(d.Memory/perRead, 1<<20)), 2*d.Concurrency)
}

// newDataPlane makes the governed data plane, once a process. Without encryption keys there is none.
func (b *base) newDataPlane(cat *catalog.Service, starter *workflows.Starter, r *keyring.Ring) *dataplane.Service {
	if r == nil {
		return nil
	}
	d := b.cfg.Data
	limits := dataplane.Limits{
		Memory: int64(d.Memory), Rows: d.Rows, AnswerBytes: int64(d.AnswerBytes), RequestBytes: int64(d.RequestBytes),
		Timeout: d.Timeout, Concurrency: d.Concurrency, SplitAfter: int64(d.SplitAfter),
	}
	return dataplane.New(dataplane.Deps{
		Catalog: cat, Reader: tableread.New(b.files, b.scans, tableread.Options{Memory: limits.Memory / readersPart}),
		Store: b.store, Tokens: r.For(pageTokens), Secrets: r.For(dataKeys), Limits: limits, Metrics: b.metrics, Log: b.log, Now: time.Now,
		WriteDeps: dataplane.WriteDeps{
			IO: tableio.New(cat, b.files, time.Now), Files: b.files, Keys: b.newKeeper(), Split: starter, NoteSuggestions: cat.NoteSuggestions,
		},
	})
}

// dataDeps is what the data API needs.
func (b *base) dataDeps(rows *dataplane.Service) data.Deps {
	if rows == nil {
		return data.Deps{}
	}
	return data.Deps{Rows: rows, Audit: rows, RequestBytes: int64(b.cfg.Data.RequestBytes), Log: b.log}
}
