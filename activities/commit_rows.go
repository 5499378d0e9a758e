package activities

import "context"

// CommitRowsName is the name of CommitRows in histories. It never changes.
const CommitRowsName = "CommitRows"

// CommitRowsInput names the write.
type CommitRowsInput struct {
	Target WriteTarget `json:"target"`
}

// CommitRowsResult has no members: the write's own row tells what landed.
type CommitRowsResult struct{}

// CommitRows makes one commit of all that the chunks of a write became. It is idempotent: the commit's transaction has the
// write's row, and where that is, nothing is committed again. It lost a race many times before it gives Conflict, which is
// final.
func (a *Activities) CommitRows(ctx context.Context, in CommitRowsInput) (CommitRowsResult, error) {
	defer heartbeat(ctx)()
	w, err := a.writer()
	if err == nil {
		err = w.CommitChunks(ctx, in.Target.split())
	}
	return CommitRowsResult{}, ofWrite(ctx, err)
}
