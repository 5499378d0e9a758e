package activities

import "context"

// CleanRowsName is the name of CleanRows in histories. It never changes.
const CleanRowsName = "CleanRows"

// CleanRowsInput names the write.
type CleanRowsInput struct {
	Target WriteTarget `json:"target"`
}

// CleanRowsResult has no members yet.
type CleanRowsResult struct{}

// CleanRows removes the chunks of a write that is over, and the data files of one that did not land. It is idempotent: a
// file that is gone is no error, and whether the write landed its row says.
func (a *Activities) CleanRows(ctx context.Context, in CleanRowsInput) (CleanRowsResult, error) {
	defer heartbeat(ctx)()
	w, err := a.writer()
	if err == nil {
		err = w.CleanChunks(ctx, in.Target.split())
	}
	return CleanRowsResult{}, toTemporal(ctx, err)
}
