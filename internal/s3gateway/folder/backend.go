package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
)

// Backend serves the buckets that Add named, and no other folder. Operations of S3 that have no meaning for files
// (versions, tags, object lock, access lists) answer NotImplemented.
type Backend struct {
	backend.BackendUnsupported

	base string
	log  *slog.Logger

	mu      sync.RWMutex
	buckets map[string]*bucket
}

var _ backend.Backend = (*Backend)(nil)

// New makes a backend for buckets that are folders in base, an absolute path.
func New(base string, log *slog.Logger) *Backend {
	return &Backend{base: base, log: log, buckets: map[string]*bucket{}}
}

// Add opens the bucket, making its folder where it is missing, and removes what a process that died left half-written.
func (b *Backend) Add(name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, there := b.buckets[name]; there {
		return nil
	}
	opened, err := openBucket(name, filepath.Join(b.base, name))
	if err != nil {
		return err
	}
	if !opened.attributes {
		b.log.Warn("The warehouse's file system has no extended attributes: objects keep no content type or user metadata, and ETags are not MD5 sums.", "bucket", name)
	}
	b.buckets[name] = opened
	return nil
}

// Close gives the folders back. Requests from then on find no bucket.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, open := range b.buckets {
		errs = append(errs, open.root.Close())
	}
	clear(b.buckets)
	return errors.Join(errs...)
}

// Shutdown implements backend.Backend.
func (b *Backend) Shutdown() { _ = b.Close() }

// String implements backend.Backend.
func (b *Backend) String() string { return "folder" }

// NormalizeObjectKey implements backend.Backend. Keys that do not mean themselves are refused, so none is changed.
func (b *Backend) NormalizeObjectKey(_, key string) string { return key }

func (b *Backend) bucket(name *string) (*bucket, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	found, there := b.buckets[*name]
	if !there {
		return nil, s3err.GetBucketErr(s3err.ErrNoSuchBucket, *name)
	}
	return found, nil
}

// ListBuckets implements backend.Backend.
func (b *Backend) ListBuckets(_ context.Context, in s3response.ListBucketsInput) (s3response.ListAllMyBucketsResult, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	out := s3response.ListAllMyBucketsResult{Owner: s3response.CanonicalUser{ID: in.Owner}, Prefix: in.Prefix}
	for _, name := range slices.Sorted(maps.Keys(b.buckets)) {
		if !strings.HasPrefix(name, in.Prefix) || name <= in.ContinuationToken {
			continue
		}
		if len(out.Buckets.Bucket) == int(in.MaxBuckets) {
			out.ContinuationToken = out.Buckets.Bucket[len(out.Buckets.Bucket)-1].Name
			break
		}
		info, err := b.buckets[name].root.Stat(".")
		if err != nil {
			return out, b.fail("list buckets", err)
		}
		out.Buckets.Bucket = append(out.Buckets.Bucket, s3response.ListAllMyBucketsEntry{Name: name, CreationDate: info.ModTime()})
	}
	return out, nil
}

// HeadBucket implements backend.Backend.
func (b *Backend) HeadBucket(_ context.Context, in *s3.HeadBucketInput) (*s3.HeadBucketOutput, error) {
	_, err := b.bucket(in.Bucket)
	return &s3.HeadBucketOutput{}, err
}

// GetBucketAcl implements backend.Backend: every bucket belongs to the root key and to nobody else.
func (b *Backend) GetBucketAcl(_ context.Context, in *s3.GetBucketAclInput) ([]byte, error) {
	_, err := b.bucket(in.Bucket)
	return []byte("{}"), err
}

// GetBucketPolicy implements backend.Backend: there are none.
func (b *Backend) GetBucketPolicy(context.Context, string) ([]byte, error) {
	return nil, s3err.GetAPIError(s3err.ErrNoSuchBucketPolicy)
}

// GetObjectLockConfiguration implements backend.Backend: nothing is locked.
func (b *Backend) GetObjectLockConfiguration(context.Context, string) ([]byte, error) {
	return nil, s3err.GetAPIError(s3err.ErrObjectLockConfigurationNotFound)
}

// GetBucketVersioning implements backend.Backend: there are no versions.
func (b *Backend) GetBucketVersioning(_ context.Context, name string) (s3response.GetBucketVersioningOutput, error) {
	_, err := b.bucket(&name)
	return s3response.GetBucketVersioningOutput{}, err
}

// DeleteObject implements backend.Backend. A folder that becomes empty stays, as it does for internal/objects.
func (b *Backend) DeleteObject(_ context.Context, in *s3.DeleteObjectInput) (*s3.DeleteObjectOutput, error) {
	out := &s3.DeleteObjectOutput{}
	bucket, err := b.bucket(in.Bucket)
	if err == nil {
		err = noVersion(*in.Key, in.VersionId)
	}
	if err == nil {
		err = CheckKey(*in.Key)
	}
	if err == nil {
		err = bucket.remove(*in.Key, backend.ObjectDeletePreconditions{
			IfMatch: in.IfMatch, IfMatchLastModTime: in.IfMatchLastModifiedTime, IfMatchSize: in.IfMatchSize,
		})
	}
	if absent(err) {
		err = nil // as S3 answers
	}
	return out, b.fail("delete object", err)
}

// DeleteObjects implements backend.Backend. Each key has its own outcome.
func (b *Backend) DeleteObjects(ctx context.Context, in *s3.DeleteObjectsInput) (s3response.DeleteResult, error) {
	var out s3response.DeleteResult
	for _, object := range in.Delete.Objects {
		if object.Key == nil {
			object.Key = new(string)
		}
		_, err := b.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: in.Bucket, Key: object.Key, VersionId: object.VersionId})
		if err != nil {
			out.Error = append(out.Error, s3err.ObjectDeleteError(object.Key, object.VersionId, err))
			continue
		}
		out.Deleted = append(out.Deleted, types.DeletedObject{Key: object.Key})
	}
	return out, nil
}

// noVersion refuses requests for a version of an object.
func noVersion(key string, version *string) error {
	if version == nil || *version == "" {
		return nil
	}
	return s3err.GetNoSuchVersionErr(key, *version)
}

// bucket is one open folder.
type bucket struct {
	name       string
	root       *os.Root
	attributes bool // the file system has extended attributes
	locks      [64]sync.Mutex
}

func openBucket(name, dir string) (*bucket, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil { //nolint:gosec // the umask decides, as for internal/objects
		return nil, fmt.Errorf("make the folder of bucket %s: %w", name, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of bucket %s: %w", name, err)
	}
	b := &bucket{name: name, root: root}
	err = b.sweep()
	if err == nil {
		b.attributes, err = b.probe()
	}
	if err != nil {
		_ = root.Close() // the first error is the one to tell
		return nil, fmt.Errorf("prepare the folder of bucket %s: %w", name, err)
	}
	return b, nil
}

// probe finds out whether the folder can be written, and whether its files have attributes.
func (b *bucket) probe() (bool, error) {
	s, err := b.newStaged()
	if err != nil {
		return false, err
	}
	defer s.discard()
	err = writeAttributes(s.file, attributes{})
	if noAttributes(err) {
		return false, nil
	}
	return err == nil, err
}

// lock takes the lock of a key, under which a condition is checked and the object given its name.
func (b *bucket) lock(key string) *sync.Mutex {
	var h uint32 = 2166136261
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * 16777619
	}
	mu := &b.locks[h%uint32(len(b.locks))]
	mu.Lock()
	return mu
}

// plain refuses paths that run through a symbolic link: it could lead to an object whose key is another one.
func (b *bucket) plain(name string) error {
	for _, dir := range append(parents(name), name) {
		info, err := b.root.Lstat(dir)
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fs.ErrNotExist
		}
	}
	return nil
}

// remove removes the file of the key, or the marker and the folder where nothing else is in it.
func (b *bucket) remove(key string, conditions backend.ObjectDeletePreconditions) error {
	defer b.lock(key).Unlock()
	object, err := b.open(key)
	if err != nil {
		return err
	}
	object.close()
	if err := backend.EvaluateObjectDeletePreconditions(object.etag(), object.info.ModTime(), object.size(), conditions); err != nil {
		return err
	}
	if marker(key) {
		return b.removeMarker(filePath(key))
	}
	return b.root.Remove(key)
}
