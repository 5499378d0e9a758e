package objects

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/sluice-data/sluice/internal/fault"
)

// S3Store keeps objects in the buckets of one S3-compatible endpoint. The bucket is the location's.
type S3Store struct {
	core minio.Core
}

// NewS3Store makes the store; errors are fault.Invalid. The endpoint is not asked anything yet.
func NewS3Store(c S3Config) (*S3Store, error) {
	client, err := newS3Client(c)
	if err != nil {
		return nil, err
	}
	return &S3Store{core: minio.Core{Client: client}}, nil
}

// begin reads the location and bounds the call's time.
func (s *S3Store) begin(ctx context.Context, location string) (Location, context.Context, context.CancelFunc, error) {
	loc, err := Parse(location)
	if err != nil {
		return Location{}, nil, nil, err
	}
	if !loc.IsS3() {
		return Location{}, nil, nil, fault.New(fault.Forbidden, "Location %s is not in the object store. Use one such as s3://bucket/path.", loc)
	}
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	return loc, ctx, cancel, nil
}

// beginObject is begin for one object: a bucket is none.
func (s *S3Store) beginObject(ctx context.Context, location string) (Location, context.Context, context.CancelFunc, error) {
	loc, ctx, cancel, err := s.begin(ctx, location)
	if err == nil && loc.Key() == "" {
		cancel()
		return Location{}, nil, nil, fault.New(fault.Invalid, "Location %s is a bucket. Name an object in it.", loc)
	}
	return loc, ctx, cancel, err
}

// ReadFile implements Store. An answer that breaks off is asked for again.
func (s *S3Store) ReadFile(ctx context.Context, location string) ([]byte, error) {
	return s.ReadFileUpTo(ctx, location, MaxReadFile)
}

// ReadFileUpTo is ReadFile with a limit of its own, in bytes; a larger object is fault.TooLarge and is not read.
func (s *S3Store) ReadFileUpTo(ctx context.Context, location string, limit int64) ([]byte, error) {
	loc, ctx, cancel, err := s.beginObject(ctx, location)
	if err != nil {
		return nil, err
	}
	defer cancel()
	for attempt := 1; ; attempt++ {
		body, info, _, err := s.core.GetObject(ctx, loc.Bucket(), loc.Key(), minio.GetObjectOptions{})
		if err != nil {
			return nil, s3Fault(ctx, loc, err)
		}
		if info.Size > limit {
			discard(body)
			return nil, TooLarge(loc, info.Size, limit)
		}
		data, err := readBody(body, info.Size, limit)
		if err == nil && int64(len(data)) > limit {
			return nil, TooLarge(loc, int64(len(data)), limit)
		}
		if err == nil {
			return data, nil
		}
		if ctx.Err() != nil || attempt == Attempts {
			return nil, s3Fault(ctx, loc, err)
		}
	}
}

// readBody reads and closes a body of the size, -1 where the store does not give it: then one byte more than the limit
// says that there is more.
func readBody(body io.ReadCloser, size, limit int64) ([]byte, error) {
	defer discard(body)
	if size < 0 {
		return io.ReadAll(io.LimitReader(body, limit+1))
	}
	data := make([]byte, size)
	_, err := io.ReadFull(body, data)
	return data, err
}

// CreateFile implements Store by a conditional PUT (If-None-Match: *). Stores that decide concurrent ones late
// (Amazon's answers 409) are asked again until they have.
func (s *S3Store) CreateFile(ctx context.Context, location string, data []byte) error {
	loc, ctx, cancel, err := s.beginObject(ctx, location)
	if err != nil {
		return err
	}
	defer cancel()
	ctx, attempts := CountAttempts(ctx)
	round := 1
	for ; ; round++ {
		if err = s.put(ctx, loc, data); err == nil {
			return nil
		}
		if !undecided(err) || round == s3ConflictRounds {
			break
		}
		select {
		case <-ctx.Done():
			return s3Fault(ctx, loc, ctx.Err())
		case <-time.After(time.Duration(round) * 50 * time.Millisecond):
		}
	}
	if !conditionFailed(err) {
		return s3Fault(ctx, loc, err)
	}
	// A retried PUT fails its own condition when the answer to the first one was lost.
	if int(attempts.Load()) > round && s.holds(ctx, loc, data) {
		return nil
	}
	return Taken(loc, err)
}

// put sends one conditional PUT, signed over its content.
func (s *S3Store) put(ctx context.Context, loc Location, data []byte) error {
	sum := sha256.Sum256(data)
	opts := minio.PutObjectOptions{ContentType: ContentType(loc), DisableContentSha256: true} // no chunked signature: the sum is given
	opts.SetMatchETagExcept("*")
	_, err := s.core.PutObject(ctx, loc.Bucket(), loc.Key(), bytes.NewReader(data), int64(len(data)), "", hex.EncodeToString(sum[:]), opts)
	return err
}

// ContentType gives the type that an object is stored with.
func ContentType(loc Location) string {
	if strings.HasSuffix(loc.Key(), ".json") {
		return "application/json"
	}
	return "application/octet-stream"
}

// holds tells whether the object is there with this very content.
func (s *S3Store) holds(ctx context.Context, loc Location, data []byte) bool {
	info, err := s.head(ctx, loc)
	if err != nil || info.Size != int64(len(data)) {
		return false
	}
	found, err := s.ReadFile(ctx, loc.String())
	return err == nil && bytes.Equal(found, data)
}

// DeleteFile implements Store.
func (s *S3Store) DeleteFile(ctx context.Context, location string) error {
	loc, ctx, cancel, err := s.beginObject(ctx, location)
	if err != nil {
		return err
	}
	defer cancel()
	err = s.core.RemoveObject(ctx, loc.Bucket(), loc.Key(), minio.RemoveObjectOptions{})
	if err == nil {
		return nil
	}
	if err = s3Fault(ctx, loc, err); fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// Stat implements Store.
func (s *S3Store) Stat(ctx context.Context, location string) (Info, error) {
	loc, ctx, cancel, err := s.beginObject(ctx, location)
	if err != nil {
		return Info{}, err
	}
	defer cancel()
	info, err := s.head(ctx, loc)
	if err != nil {
		return Info{}, err
	}
	return Info{Location: loc.String(), Size: info.Size, Modified: info.LastModified, ETag: strings.Trim(info.ETag, `"`)}, nil
}

// head asks for an object's size, time and version.
func (s *S3Store) head(ctx context.Context, loc Location) (minio.ObjectInfo, error) {
	info, err := s.core.StatObject(ctx, loc.Bucket(), loc.Key(), minio.StatObjectOptions{})
	if err != nil {
		return info, s3Fault(ctx, loc, err)
	}
	if info.Size < 0 {
		return info, fault.New(fault.Unavailable, "The object store does not say how large %s is. Try again, and look at the proxies before it if this stays.", loc)
	}
	return info, nil
}

// List implements Store. Keys that end with a slash, which some tools make to stand for folders, are not shown.
func (s *S3Store) List(ctx context.Context, prefix, after string, limit int) ([]Info, error) {
	loc, ctx, cancel, err := s.begin(ctx, prefix)
	if err != nil {
		return nil, err
	}
	defer cancel() // ends the listing's goroutine too
	afterKey, err := KeyAfter(loc, after)
	if err != nil {
		return nil, err
	}
	limit = PageSize(limit)
	opts := minio.ListObjectsOptions{Prefix: loc.Key(), Recursive: true, StartAfter: afterKey, MaxKeys: limit}
	if opts.Prefix != "" {
		opts.Prefix += "/"
	}
	found := make([]Info, 0, min(limit, 64))
	for object := range s.core.Client.ListObjects(ctx, loc.Bucket(), opts) {
		if object.Err != nil {
			return nil, s3Fault(ctx, loc, object.Err)
		}
		if strings.HasSuffix(object.Key, "/") || object.Key <= afterKey {
			continue
		}
		found = append(found, Info{Location: loc.At(object.Key).String(), Size: object.Size, Modified: object.LastModified})
		if len(found) == limit {
			break
		}
	}
	return found, nil
}

// OpenFile implements Store. Reads are ranged requests for the version of the object that was opened.
func (s *S3Store) OpenFile(ctx context.Context, location string) (File, error) {
	loc, callCtx, cancel, err := s.beginObject(ctx, location)
	if err != nil {
		return nil, err
	}
	defer cancel()
	info, err := s.head(callCtx, loc)
	if err != nil {
		return nil, err
	}
	return NewRangedFile(info.Size, s.ranges(ctx, loc, info.ETag)), nil
}

// EnsureFolder implements Store: object stores have no folders.
func (*S3Store) EnsureFolder(_ context.Context, location string) error {
	_, err := Parse(location)
	return err
}
