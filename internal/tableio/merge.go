package tableio

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/apache/iceberg-go"
)

// The properties that say when manifests are merged, and what holds without them: so that a table of many small writes
// does not have as many manifests.
const (
	mergeProperty      = "commit.manifest-merge.enabled"
	mergeCountProperty = "commit.manifest.min-count-to-merge"
	mergeSizeProperty  = "commit.manifest.target-size-bytes"
	mergeCount         = 100
	mergeSize          = 8 << 20
	mergeReaders       = 8
)

// merged makes one of the smallest data manifests of the default spec, once there are many of them. Their files keep the
// snapshot, the sequence number and the row ids that they came with.
func (s *staging) merged(kept []iceberg.ManifestFile) ([]iceberg.ManifestFile, error) {
	small := s.mergeable(kept)
	if len(small) < 2 {
		return kept, nil
	}
	contents := make([]manifestContent, len(small))
	var group errgroup.Group
	group.SetLimit(mergeReaders)
	for i, m := range small {
		group.Go(func() (err error) {
			contents[i], err = s.readManifest(s.ctx, m)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	var entries []iceberg.ManifestEntry
	for i, c := range contents {
		if c.schema.ID == s.layout.schema.ID { // another schema may have other types of partition values
			gone[small[i].FilePath()] = true
			entries = append(entries, c.entries...)
		}
	}
	if len(gone) < 2 {
		return kept, nil
	}
	file, err := s.manifest(s.layout.spec, s.layout.schema, iceberg.ManifestContentData, func(w *iceberg.ManifestWriter) error {
		for _, e := range entries {
			if err := w.Existing(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	rest := slices.DeleteFunc(slices.Clone(kept), func(m iceberg.ManifestFile) bool { return gone[m.FilePath()] })
	return append([]iceberg.ManifestFile{file}, rest...), nil
}

// mergeable gives the smallest data manifests of the default spec that fit into one together; none while there are few.
func (s *staging) mergeable(kept []iceberg.ManifestFile) []iceberg.ManifestFile {
	if strings.EqualFold(s.layout.properties[mergeProperty], "false") {
		return nil
	}
	var out []iceberg.ManifestFile
	for _, m := range kept {
		known := m.AddedDataFiles() >= 0 && m.ExistingDataFiles() >= 0
		if m.ManifestContent() == iceberg.ManifestContentData && int(m.PartitionSpecID()) == s.layout.spec.ID() && known {
			out = append(out, m)
		}
	}
	if int64(len(out)) < s.layout.size(mergeCountProperty, mergeCount) {
		return nil
	}
	slices.SortStableFunc(out, func(a, b iceberg.ManifestFile) int { return cmp.Compare(a.Length(), b.Length()) })
	total, most := int64(0), s.layout.size(mergeSizeProperty, mergeSize)
	for i, m := range out {
		if total += m.Length(); total > most {
			return out[:i]
		}
	}
	return out
}
