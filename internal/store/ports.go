package store

import (
	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/dispatch"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/management"
)

var (
	_ catalog.Store            = (*Store)(nil)
	_ access.Store             = (*Store)(nil)
	_ management.Store         = (*Store)(nil)
	_ activities.Ledger        = (*Store)(nil)
	_ activities.PurgeLedger   = (*Store)(nil)
	_ activities.FileLedger    = (*Store)(nil)
	_ activities.WriterLedger  = (*Store)(nil)
	_ activities.FindingLedger = (*Store)(nil)
	_ activities.CheckLedger   = (*Store)(nil)
	_ dispatch.Outbox          = (*Store)(nil)
	_ catalog.Reports          = (*Store)(nil)
	_ idempotency.Store        = (*Store)(nil)
)
