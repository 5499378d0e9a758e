package workflows

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-data/sluice/activities"
)

const (
	reconcilePrefix = "reconcile/"
	batchPrefix     = "reconcile-batch/"
	purgePrefix     = "purge/"
)

// The schedules of what runs by the clock, and the start of their runs' workflow ids.
const (
	SweepScheduleID        = "sweep-catalog"
	SweepDroppedScheduleID = "sweep-dropped"
	CheckFilesScheduleID   = "check-files"
	CheckTablesScheduleID  = "check-tables"
	WatchWritersScheduleID = "watch-writers"
)

// PurgeTableID is the workflow id of a table's purge: at most one runs at a time.
func PurgeTableID(tableUUID string) string { return purgePrefix + tableUUID }

// ParsePurgeTableID is the inverse of PurgeTableID.
func ParsePurgeTableID(id string) (tableUUID string, err error) {
	if rest, ok := strings.CutPrefix(id, purgePrefix); ok && rest != "" {
		return rest, nil
	}
	return "", fmt.Errorf("%q is not the workflow id of a purge", id)
}

// ReconcileCommitID is the workflow id of a snapshot's reconciliation: at most one runs at a time.
func ReconcileCommitID(tableUUID string, snapshotID int64) string {
	return reconcilePrefix + tableUUID + "/" + strconv.FormatInt(snapshotID, 10)
}

// ParseReconcileCommitID is the inverse of ReconcileCommitID.
func ParseReconcileCommitID(id string) (tableUUID string, snapshotID int64, err error) {
	rest, ok := strings.CutPrefix(id, reconcilePrefix)
	slash := strings.LastIndexByte(rest, '/')
	if ok && slash > 0 {
		if snapshotID, err = strconv.ParseInt(rest[slash+1:], 10, 64); err == nil {
			return rest[:slash], snapshotID, nil
		}
	}
	return "", 0, fmt.Errorf("%q is not the workflow id of a commit's reconciliation", id)
}

// ReconcileBatchID is the workflow id of a batch: its first and last outbox event and a digest of what it is to do, because the
// range alone does not say: an event in the middle may have been committed after the ends were read.
func ReconcileBatchID(first, last int64, targets []activities.Target) string {
	h := sha256.New()
	for _, t := range targets {
		h.Write(fmt.Appendf(nil, "%s/%s/%d\n", t.TableID, t.TableUUID, t.SnapshotID))
	}
	return fmt.Sprintf("%s%d-%d-%x", batchPrefix, first, last, h.Sum(nil)[:4])
}

// ParseReconcileBatchID is the inverse of ReconcileBatchID for the range.
func ParseReconcileBatchID(id string) (first, last int64, err error) {
	rest, ok := strings.CutPrefix(id, batchPrefix)
	if parts := strings.Split(rest, "-"); ok && len(parts) == 3 {
		var errLast error
		first, err = strconv.ParseInt(parts[0], 10, 64)
		last, errLast = strconv.ParseInt(parts[1], 10, 64)
		if err == nil && errLast == nil {
			return first, last, nil
		}
	}
	return 0, 0, fmt.Errorf("%q is not the workflow id of a batch", id)
}
