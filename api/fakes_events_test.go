package api_test

import (
	"context"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// AuditScope implements governance.Records.
func (u *useCases) AuditScope(_ context.Context, _ policy.Caller, f models.AuditFilter) (models.AuditFilter, error) {
	return f, u.fail
}
