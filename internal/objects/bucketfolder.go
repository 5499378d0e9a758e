package objects

import (
	"context"
	"errors"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// BucketFolder is a Store of a bucket whose objects are the files of a local folder, as the S3 endpoint that serves the
// folder has them: who runs in its process needs no way around by HTTP. Locations, answers and errors are the bucket's.
type BucketFolder struct {
	bucket Location // s3://bucket
	folder Location // file:///folder
	files  *FileStore
}

// NewBucketFolder makes the Store of a whole bucket over a folder, which is made where it is missing. etag gives the ETags
// of the endpoint that serves the folder, and may be nil.
func NewBucketFolder(ctx context.Context, bucket, folder Location, etag ETagFunc) (*BucketFolder, error) {
	if !bucket.IsS3() || bucket.key != "" || folder.IsS3() {
		return nil, fault.New(fault.Invalid, "%s cannot be served from %s: name a whole bucket and a local folder.", bucket, folder)
	}
	files, err := NewFileStore(ctx, folder)
	if err != nil {
		return nil, err
	}
	files.etag = etag
	return &BucketFolder{bucket: bucket, folder: folder, files: files}, nil
}

// file gives where in the folder an object is.
func (b *BucketFolder) file(location string) (string, error) {
	loc, err := Parse(location)
	if err != nil {
		return "", err
	}
	if !Within(b.bucket, loc) {
		return "", fault.New(fault.Forbidden, "Location %s is not in the bucket %s.", loc, b.bucket)
	}
	if loc.key == "" {
		return b.folder.String(), nil
	}
	for segment := range strings.SplitSeq(loc.key, "/") {
		if segment == ".sluice-s3" || strings.HasPrefix(segment, ".sluice-tmp-") {
			return "", fault.New(fault.Invalid, "Location %s has the name %s, which the S3 endpoint keeps for itself. Choose another.", loc, segment)
		}
	}
	file, err := Join(b.folder, loc.key)
	return file.String(), err
}

// object gives the object that a file of the folder is.
func (b *BucketFolder) object(file string) string {
	return b.bucket.String() + strings.TrimPrefix(file, b.folder.String())
}

// own puts an error into the bucket's words.
func (b *BucketFolder) own(err error) error {
	found, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	told := *found
	told.Message = strings.ReplaceAll(told.Message, b.folder.String(), b.bucket.String())
	return &told
}

// ReadFile implements Store.
func (b *BucketFolder) ReadFile(ctx context.Context, location string) ([]byte, error) {
	return b.ReadFileUpTo(ctx, location, MaxReadFile)
}

// ReadFileUpTo is ReadFile with a limit of its own, in bytes.
func (b *BucketFolder) ReadFileUpTo(ctx context.Context, location string, limit int64) ([]byte, error) {
	file, err := b.file(location)
	if err != nil {
		return nil, err
	}
	data, err := b.files.ReadFileUpTo(ctx, file, limit)
	return data, b.own(err)
}

// CreateFile implements Store.
func (b *BucketFolder) CreateFile(ctx context.Context, location string, data []byte) error {
	file, err := b.file(location)
	if err != nil {
		return err
	}
	return b.own(b.files.CreateFile(ctx, file, data))
}

// DeleteFile implements Store.
func (b *BucketFolder) DeleteFile(ctx context.Context, location string) error {
	file, err := b.file(location)
	if err != nil {
		return err
	}
	return b.own(b.files.DeleteFile(ctx, file))
}

// Stat implements Store.
func (b *BucketFolder) Stat(ctx context.Context, location string) (Info, error) {
	file, err := b.file(location)
	if err != nil {
		return Info{}, err
	}
	info, err := b.files.Stat(ctx, file)
	if err != nil {
		return Info{}, b.own(err)
	}
	info.Location = b.object(info.Location)
	return info, nil
}

// List implements Store.
func (b *BucketFolder) List(ctx context.Context, prefix, after string, limit int) ([]Info, error) {
	folder, err := b.file(prefix)
	if err != nil {
		return nil, err
	}
	if after != "" {
		if after, err = b.file(after); err != nil {
			return nil, err
		}
	}
	found, err := b.files.List(ctx, folder, after, limit)
	if err != nil {
		return nil, b.own(err)
	}
	for i := range found {
		found[i].Location = b.object(found[i].Location)
	}
	return found, nil
}

// OpenFile implements Store.
func (b *BucketFolder) OpenFile(ctx context.Context, location string) (File, error) {
	file, err := b.file(location)
	if err != nil {
		return nil, err
	}
	f, err := b.files.OpenFile(ctx, file)
	if err != nil {
		return nil, b.own(err)
	}
	return f, nil
}

// EnsureFolder makes nothing: a bucket has no folders, and engines that write into it need none.
func (b *BucketFolder) EnsureFolder(_ context.Context, location string) error {
	_, err := b.file(location)
	return err
}

// Close closes the folder.
func (b *BucketFolder) Close() error { return b.files.Close() }
