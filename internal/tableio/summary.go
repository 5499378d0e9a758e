package tableio

import (
	"strconv"

	"github.com/apache/iceberg-go"
)

// counts are what a snapshot adds and removes, for its summary.
type counts struct {
	dataFiles, rows                      int64
	addedDeletes, removedDeletes         int64 // files and vectors
	addedDeleteFiles, removedDeleteFiles int64 // position delete files
	addedVectors, removedVectors         int64
	addedPositions, removedPositions     int64
	addedBytes, removedBytes             int64
}

func (c *counts) addData(files int, rows, bytes int64) {
	c.dataFiles += int64(files)
	c.rows += rows
	c.addedBytes += bytes
}

func (c *counts) addPositionDeletes(rows, bytes int64) {
	c.addedDeletes++
	c.addedDeleteFiles++
	c.addedPositions += rows
	c.addedBytes += bytes
}

// addVector counts a deletion vector; bytes are its own in its file.
func (c *counts) addVector(rows, bytes int64) {
	c.addedDeletes++
	c.addedVectors++
	c.addedPositions += rows
	c.addedBytes += bytes
}

// removeDelete counts a delete file, or a vector, that goes.
func (c *counts) removeDelete(f iceberg.DataFile) {
	c.removedDeletes++
	c.removedPositions += f.Count()
	if f.FileFormat() != iceberg.PuffinFile {
		c.removedDeleteFiles++
		c.removedBytes += f.FileSizeBytes()
		return
	}
	c.removedVectors++
	if size := f.ContentSizeInBytes(); size != nil {
		c.removedBytes += *size
	}
}

// summary counts what the snapshot does, and the totals where the parent has them, nil for no parent.
func (c *counts) summary(operation string, parent map[string]string, more map[string]string) map[string]string {
	s := map[string]string{"operation": operation}
	for name, n := range map[string]int64{
		"added-data-files": c.dataFiles, "added-records": c.rows, "added-files-size": c.addedBytes, "removed-files-size": c.removedBytes,
		"added-delete-files": c.addedDeletes, "removed-delete-files": c.removedDeletes,
		"added-position-delete-files": c.addedDeleteFiles, "removed-position-delete-files": c.removedDeleteFiles,
		"added-dvs": c.addedVectors, "removed-dvs": c.removedVectors,
		"added-position-deletes": c.addedPositions, "removed-position-deletes": c.removedPositions,
	} {
		if n > 0 {
			s[name] = strconv.FormatInt(n, 10)
		}
	}
	for name, change := range map[string]int64{
		"total-data-files": c.dataFiles, "total-records": c.rows, "total-files-size": c.addedBytes - c.removedBytes,
		"total-delete-files": c.addedDeletes - c.removedDeletes, "total-position-deletes": c.addedPositions - c.removedPositions,
		"total-equality-deletes": 0,
	} {
		before, err := strconv.ParseInt(parent[name], 10, 64)
		if total := before + change; (parent == nil || err == nil) && total >= 0 {
			s[name] = strconv.FormatInt(total, 10)
		}
	}
	for key, value := range more {
		s[key] = value
	}
	return s
}
