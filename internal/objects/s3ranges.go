package objects

import (
	"context"
	"io"

	"github.com/minio/minio-go/v7"

	"github.com/sluice-data/sluice/internal/fault"
)

// ranges reads parts of the version of an object that has the etag, of any where the store gives none. An answer that
// breaks off is asked for again.
func (s *S3Store) ranges(ctx context.Context, loc Location, etag string) func(p []byte, off int64) error {
	return func(p []byte, off int64) error {
		ctx, cancel := context.WithTimeout(ctx, CallTimeout)
		defer cancel()
		opts := minio.GetObjectOptions{}
		if err := opts.SetRange(off, off+int64(len(p))-1); err != nil {
			return s3Fault(ctx, loc, err)
		}
		if etag != "" {
			if err := opts.SetMatchETag(etag); err != nil {
				return s3Fault(ctx, loc, err)
			}
		}
		return Fill(ctx, p, func() (io.ReadCloser, error) {
			body, info, _, err := s.core.GetObject(ctx, loc.Bucket(), loc.Key(), opts)
			if conditionFailed(err) {
				return nil, Replaced(loc, err)
			}
			if err != nil {
				return nil, s3Fault(ctx, loc, err)
			}
			if info.Size != int64(len(p)) {
				discard(body)
				return nil, fault.New(fault.Unavailable, "The object store gave %d bytes of %s where %d were asked for. It must support ranged reads.", info.Size, loc, len(p))
			}
			return body, nil
		}, func(err error) error { return s3Fault(ctx, loc, err) })
	}
}
