package activities

import (
	"context"

	"go.temporal.io/sdk/temporal"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// RowWriter lands governed writes whose rows lie in chunks. Each method may be called again, at once too: what is done
// stays done.
type RowWriter interface {
	// WriteChunk makes data files of the rows of a chunk, from 0 on, and gives how many rows it has. fault.Conflict, here
	// and below: the table is another than the rows were checked for, and trying again is pointless.
	WriteChunk(ctx context.Context, w models.SplitWrite, chunk int) (rows int64, err error)
	// CommitChunks makes one commit of the data files of all chunks.
	CommitChunks(ctx context.Context, w models.SplitWrite) error
	// CleanChunks removes the chunks; and the data files too, if the write did not land.
	CleanChunks(ctx context.Context, w models.SplitWrite) error
}

// WriteTarget names a split write in histories.
type WriteTarget struct {
	WriteID   string `json:"writeId"`
	CatalogID string `json:"catalogId"`
	TableID   string `json:"tableId"`
	TableUUID string `json:"tableUuid"`
	TableName string `json:"tableName"`
	Folder    string `json:"folder"`
	Chunks    int    `json:"chunks"`
}

func (t WriteTarget) split() models.SplitWrite { return models.SplitWrite(t) }

// writer gives the port; a process without one does not land writes.
func (a *Activities) writer() (RowWriter, error) {
	if a.ports.RowWriter == nil {
		return nil, fault.New(fault.Unavailable, "This worker has no data plane: check that all workers are of one version.")
	}
	return a.ports.RowWriter, nil
}

// ofWrite is toTemporal where a conflict is final: what could be won by trying again was tried.
func ofWrite(ctx context.Context, err error) error {
	if fault.Is(err, fault.Conflict) {
		return temporal.NewNonRetryableApplicationError(publicMessage(err), string(ConflictError), nil)
	}
	return toTemporal(ctx, err)
}
