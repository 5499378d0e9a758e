package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3err"
)

// object is an open object. A marker is the folder it marks.
type object struct {
	file  *os.File
	info  fs.FileInfo
	attrs attributes
}

// open opens the object of the key.
func (b *bucket) open(key string) (*object, error) {
	if err := b.plain(filePath(key)); err != nil {
		return nil, err
	}
	return b.openPlain(key)
}

// openPlain opens the object of a key that is known to run through no link. A pipe that somebody left in the folder
// does not block it.
func (b *bucket) openPlain(key string) (*object, error) {
	f, err := b.root.OpenFile(filePath(key), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	attrs, known := readAttributes(f, info)
	isObject := info.Mode().IsRegular() && !marker(key) || info.IsDir() && marker(key) && known
	if !isObject {
		_ = f.Close() // nothing was written
		return nil, fs.ErrNotExist
	}
	if attrs.ETag == "" {
		attrs.ETag = derivedETag(info)
	}
	if attrs.Type == "" {
		attrs.Type = defaultType
	}
	return &object{file: f, info: info, attrs: attrs}, nil
}

func (o *object) close() { _ = o.file.Close() } // nothing was written

func (o *object) etag() string { return quoted(o.attrs.ETag) }

func (o *object) size() int64 {
	if o.info.IsDir() {
		return 0
	}
	return o.info.Size()
}

func quoted(etag string) string { return `"` + etag + `"` }

// span is the part of an object that a request asks for.
type span struct {
	start, length int64
	header        *string // Content-Range, nil for the whole object
}

// spanOf reads the request's range or part number. An object is one part, however it was uploaded.
func (o *object) spanOf(rangeHeader *string, part *int32) (span, error) {
	size := o.size()
	whole := fmt.Sprintf("bytes 0-%d/%d", size-1, size)
	if part != nil {
		switch {
		case *part > 1:
			return span{}, s3err.GetInvalidPartNumberRangeErr(1, *part)
		case size == 0:
			return span{}, nil
		}
		return span{length: size, header: &whole}, nil
	}
	start, length, isRange, err := backend.ParseObjectRange(size, text(rangeHeader))
	if err != nil || !isRange {
		return span{length: size}, err
	}
	header := fmt.Sprintf("bytes %d-%d/%d", start, start+length-1, size)
	return span{start: start, length: length, header: &header}, nil
}

// find opens the object of a request, after the checks that reading and asking about it have in common.
func (b *Backend) find(bucketName, key, version *string, conditions backend.PreConditions) (*object, error) {
	bucket, err := b.bucket(bucketName)
	if err == nil {
		err = noVersion(*key, version)
	}
	if err == nil {
		err = CheckKey(*key)
	}
	if err != nil {
		return nil, err
	}
	found, err := bucket.open(*key)
	if err != nil {
		return nil, err
	}
	if err := backend.EvaluatePreconditions(found.etag(), found.info.ModTime(), conditions); err != nil {
		found.close()
		return nil, err
	}
	return found, nil
}

// GetObject implements backend.Backend. The caller closes the body.
func (b *Backend) GetObject(_ context.Context, in *s3.GetObjectInput) (*s3.GetObjectOutput, error) {
	found, err := b.find(in.Bucket, in.Key, in.VersionId, backend.PreConditions{
		IfMatch: in.IfMatch, IfNoneMatch: in.IfNoneMatch, IfModSince: in.IfModifiedSince, IfUnmodeSince: in.IfUnmodifiedSince,
	})
	if err != nil {
		return nil, b.fail("get object", err)
	}
	part, err := found.spanOf(in.Range, in.PartNumber)
	if err != nil {
		found.close()
		return nil, b.fail("get object", err)
	}
	a := found.attrs
	return &s3.GetObjectOutput{
		Body:               &content{Reader: io.NewSectionReader(found.file, part.start, part.length), file: found.file},
		AcceptRanges:       textOrNil("bytes"),
		ContentLength:      &part.length,
		ContentRange:       part.header,
		ETag:               textOrNil(found.etag()),
		LastModified:       new(found.info.ModTime()),
		ContentType:        &a.Type,
		ContentEncoding:    textOrNil(a.Encoding),
		ContentDisposition: textOrNil(a.Disposition),
		ContentLanguage:    textOrNil(a.Language),
		CacheControl:       textOrNil(a.Cache),
		ExpiresString:      textOrNil(a.Expires),
		Metadata:           a.Meta,
		StorageClass:       types.StorageClassStandard,
	}, nil
}

// HeadObject implements backend.Backend.
func (b *Backend) HeadObject(_ context.Context, in *s3.HeadObjectInput) (*s3.HeadObjectOutput, error) {
	found, err := b.find(in.Bucket, in.Key, in.VersionId, backend.PreConditions{
		IfMatch: in.IfMatch, IfNoneMatch: in.IfNoneMatch, IfModSince: in.IfModifiedSince, IfUnmodeSince: in.IfUnmodifiedSince,
	})
	if err != nil {
		return nil, b.fail("head object", err)
	}
	defer found.close()
	part, err := found.spanOf(in.Range, in.PartNumber)
	if err != nil {
		return nil, b.fail("head object", err)
	}
	a := found.attrs
	return &s3.HeadObjectOutput{
		AcceptRanges:       textOrNil("bytes"),
		ContentLength:      &part.length,
		ContentRange:       part.header,
		ETag:               textOrNil(found.etag()),
		LastModified:       new(found.info.ModTime()),
		ContentType:        &a.Type,
		ContentEncoding:    textOrNil(a.Encoding),
		ContentDisposition: textOrNil(a.Disposition),
		ContentLanguage:    textOrNil(a.Language),
		CacheControl:       textOrNil(a.Cache),
		ExpiresString:      textOrNil(a.Expires),
		Metadata:           a.Meta,
		StorageClass:       types.StorageClassStandard,
	}, nil
}

// content is the body of an answer. A folder marker's is empty.
type content struct {
	io.Reader
	file *os.File
}

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if errors.Is(err, syscall.EISDIR) {
		err = io.EOF
	}
	return n, err
}

// Close implements io.Closer.
func (c *content) Close() error { return c.file.Close() }

// text gives the string, or "" for nil.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// textOrNil gives nil for "".
func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
