package folder

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3response"
)

// ListObjectsV2 implements backend.Backend.
func (b *Backend) ListObjectsV2(ctx context.Context, in *s3.ListObjectsV2Input) (s3response.ListObjectsV2Result, error) {
	after := max(text(in.StartAfter), text(in.ContinuationToken))
	found, err := b.list(ctx, in.Bucket, text(in.Prefix), text(in.Delimiter), after, *in.MaxKeys)
	if err != nil {
		return s3response.ListObjectsV2Result{}, err
	}
	count := int32(len(found.Objects) + len(found.CommonPrefixes)) //nolint:gosec // at most MaxKeys
	return s3response.ListObjectsV2Result{
		Name: in.Bucket, Prefix: in.Prefix, Delimiter: textOrNil(text(in.Delimiter)), MaxKeys: in.MaxKeys, KeyCount: &count,
		StartAfter: textOrNil(text(in.StartAfter)), ContinuationToken: textOrNil(text(in.ContinuationToken)),
		IsTruncated: &found.Truncated, NextContinuationToken: textOrNil(found.NextMarker),
		Contents: found.Objects, CommonPrefixes: found.CommonPrefixes,
	}, nil
}

// ListObjects implements backend.Backend: the listing that S3 had first.
func (b *Backend) ListObjects(ctx context.Context, in *s3.ListObjectsInput) (s3response.ListObjectsResult, error) {
	found, err := b.list(ctx, in.Bucket, text(in.Prefix), text(in.Delimiter), text(in.Marker), *in.MaxKeys)
	if err != nil {
		return s3response.ListObjectsResult{}, err
	}
	return s3response.ListObjectsResult{
		Name: in.Bucket, Prefix: in.Prefix, Delimiter: textOrNil(text(in.Delimiter)), MaxKeys: in.MaxKeys, Marker: in.Marker,
		IsTruncated: &found.Truncated, NextMarker: textOrNil(found.NextMarker),
		Contents: found.Objects, CommonPrefixes: found.CommonPrefixes,
	}, nil
}

func (b *Backend) list(ctx context.Context, name *string, prefix, delimiter, after string, limit int32) (backend.WalkResults, error) {
	bucket, err := b.bucket(name)
	if err != nil {
		return backend.WalkResults{}, err
	}
	if err := bucket.listable(prefix); err != nil {
		if absent(err) || CheckKey(prefix+"x") != nil {
			return backend.WalkResults{}, nil // no key begins like that
		}
		return backend.WalkResults{}, b.fail("list objects", err)
	}
	found, err := backend.Walk(ctx, bucket.root.FS(), prefix, delimiter, after, limit, bucket.entry, []string{workFolder})
	return found, b.fail("list objects", err)
}

// listable refuses prefixes that no key has, and those that run through a symbolic link.
func (b *bucket) listable(prefix string) error {
	if prefix == "" {
		return nil
	}
	if err := CheckKey(prefix + "x"); err != nil {
		return err
	}
	dir := path.Dir(prefix + "x")
	if dir == "." {
		return nil
	}
	return b.plain(dir)
}

// entry gives the object of one entry of a folder. Folders without a mark are none, nor are links, pipes, files that
// are being written, and names that no request could give.
func (b *bucket) entry(key string, d fs.DirEntry) (s3response.Object, error) {
	if CheckKey(key) != nil || !d.IsDir() && !d.Type().IsRegular() {
		return s3response.Object{}, backend.ErrSkipObj
	}
	if d.IsDir() && !strings.HasSuffix(key, "/") {
		key += "/"
	}
	found, err := b.openPlain(key) // the walk goes through no links
	if absent(err) || errors.Is(err, fs.ErrPermission) {
		return s3response.Object{}, backend.ErrSkipObj // gone meanwhile, or somebody else's
	}
	if err != nil {
		return s3response.Object{}, err
	}
	defer found.close()
	return s3response.Object{
		Key: &key, ETag: textOrNil(found.etag()), Size: new(found.size()), LastModified: new(found.info.ModTime()),
		StorageClass: types.ObjectStorageClassStandard,
	}, nil
}
