package folder

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3api/middlewares"
	"github.com/versity/versitygw/s3api/utils"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
)

// maxAtOnce is the most that one request writes or copies, in bytes, as in S3. Objects of several parts may be larger.
const maxAtOnce = 5 << 30

// conditions under which an object is written.
type conditions struct {
	ifMatch     *string
	ifNoneMatch *string
}

// PutObject implements backend.Backend. When it returns without an error the object is on the disk.
func (b *Backend) PutObject(_ context.Context, in s3response.PutObjectInput) (s3response.PutObjectOutput, error) {
	bucket, err := b.bucket(in.Bucket)
	if err == nil {
		err = CheckKey(*in.Key)
	}
	if err == nil && text(in.Tagging) != "" {
		err = s3err.GetAPIError(s3err.ErrNotImplemented)
	}
	if err != nil {
		return s3response.PutObjectOutput{}, err
	}
	body, err := verified(in.Body, in.ChecksumAlgorithm, sentSums{
		types.ChecksumAlgorithmCrc32: in.ChecksumCRC32, types.ChecksumAlgorithmCrc32c: in.ChecksumCRC32C,
		types.ChecksumAlgorithmCrc64nvme: in.ChecksumCRC64NVME, types.ChecksumAlgorithmSha1: in.ChecksumSHA1,
		types.ChecksumAlgorithmSha256: in.ChecksumSHA256, types.ChecksumAlgorithmSha512: in.ChecksumSHA512,
		types.ChecksumAlgorithmMd5: in.ChecksumMD5, types.ChecksumAlgorithmXxhash64: in.ChecksumXXHASH64,
		types.ChecksumAlgorithmXxhash3: in.ChecksumXXHASH3, types.ChecksumAlgorithmXxhash128: in.ChecksumXXHASH128,
	})
	if err != nil {
		return s3response.PutObjectOutput{}, b.fail("put object", err)
	}
	a := attributes{
		Type: text(in.ContentType), Encoding: encoding(in.ContentEncoding), Disposition: text(in.ContentDisposition),
		Language: text(in.ContentLanguage), Cache: text(in.CacheControl), Expires: text(in.Expires), Meta: in.Metadata,
	}
	size, err := statedSize(in.ContentLength)
	if err != nil {
		return s3response.PutObjectOutput{}, err
	}
	etag, size, err := bucket.write(*in.Key, body, size, a, conditions{in.IfMatch, in.IfNoneMatch})
	if err != nil {
		return s3response.PutObjectOutput{}, b.fail("put object", err)
	}
	return s3response.PutObjectOutput{ETag: quoted(etag), Size: &size}, nil
}

// statedSize is the length of a body in bytes, at most what S3 takes at once.
func statedSize(length *int64) (int64, error) {
	switch {
	case length == nil || *length < 0:
		return 0, s3err.GetAPIError(s3err.ErrMissingContentLength)
	case *length > maxAtOnce:
		return 0, s3err.GetEntityTooLargeErr(*length, maxAtOnce)
	}
	return *length, nil
}

// encoding is the object's content encoding: how its bytes came over the wire is not part of it.
func encoding(header *string) string {
	var kept []string
	for name := range strings.SplitSeq(text(header), ",") {
		if name = strings.TrimSpace(name); name != "" && name != "aws-chunked" {
			kept = append(kept, name)
		}
	}
	return strings.Join(kept, ",")
}

// write makes the object of the key, whole, durable and under the conditions, or leaves what is there as it is.
func (b *bucket) write(key string, body io.Reader, size int64, a attributes, c conditions) (etag string, written int64, err error) {
	if marker(key) {
		return b.writeMarker(filePath(key), body, a)
	}
	if err := b.allowed(key, c); err != nil {
		return "", 0, err // before the body is read; checked again when it counts
	}
	s, err := b.newStaged()
	if err != nil {
		return "", 0, err
	}
	defer s.discard()
	if err := s.fill(body, size); err != nil {
		return "", 0, err
	}
	a.ETag = s.etag()
	etag, err = b.publish(s, key, a, c)
	return etag, s.size, err
}

// publish gives a staged file its key.
func (b *bucket) publish(s *staged, key string, a attributes, c conditions) (string, error) {
	etag, err := s.seal(a, b.attributes)
	if err != nil {
		return "", err
	}
	defer b.lock(key).Unlock()
	if err := b.allowed(key, c); err != nil {
		return "", err
	}
	for try := 0; ; try++ {
		if err = b.makeFolder(path.Dir(key)); err == nil {
			err = b.place(s, key, c)
		}
		if !errors.Is(err, fs.ErrNotExist) || try == 3 {
			break
		} // somebody removed the folder a moment ago
	}
	if err != nil {
		return "", placeFault(err)
	}
	return etag, b.sync(path.Dir(key))
}

// place gives a staged file its name. Where nothing may be there, the file system itself refuses a name that is taken.
func (b *bucket) place(s *staged, key string, c conditions) error {
	if c.ifNoneMatch == nil {
		return b.root.Rename(s.name, key)
	}
	err := b.root.Link(s.name, key)
	if errors.Is(err, fs.ErrExist) {
		if info, statErr := b.root.Lstat(key); statErr == nil && info.IsDir() {
			return syscall.EISDIR
		}
		return s3err.GetPreconditionFailedErr(s3err.ConditionIfNoneMatch)
	}
	return err
}

// placeFault says what is in the way of a name.
func placeFault(err error) error {
	switch {
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, fs.ErrExist):
		return s3err.GetAPIError(s3err.ErrExistingObjectIsDirectory)
	case errors.Is(err, syscall.ENOTDIR):
		return s3err.GetAPIError(s3err.ErrObjectParentIsFile)
	case errors.Is(err, fs.ErrNotExist):
		return s3err.GetAPIError(s3err.ErrSlowDown) // folders are being removed all the time
	}
	return err
}

// allowed compares the conditions with the object that is there.
func (b *bucket) allowed(key string, c conditions) error {
	if c.ifMatch == nil && c.ifNoneMatch == nil {
		return nil
	}
	etag := ""
	found, err := b.open(key)
	if err == nil {
		etag = found.etag()
		found.close()
	} else if !absent(err) {
		return err
	}
	return backend.EvaluateObjectPutPreconditions(etag, c.ifMatch, c.ifNoneMatch, err == nil)
}

// writeMarker makes a folder that is listed as an object. On a file system without attributes it is just a folder.
func (b *bucket) writeMarker(dir string, body io.Reader, a attributes) (etag string, size int64, err error) {
	n, err := io.Copy(io.Discard, io.LimitReader(body, 1))
	if err != nil {
		return "", 0, err
	}
	if n > 0 {
		return "", 0, s3err.GetAPIError(s3err.ErrDirectoryObjectContainsData)
	}
	if err := b.makeFolder(dir); err != nil {
		return "", 0, placeFault(err)
	}
	f, err := b.root.Open(dir)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }() // flushed below
	a.ETag, a.Type = emptyMD5, markerType
	if err := writeAttributes(f, a); err != nil && !noAttributes(err) {
		return "", 0, err
	}
	return a.ETag, 0, f.Sync()
}

// removeMarker takes the mark from a folder, and the folder away where nothing is in it.
func (b *bucket) removeMarker(dir string) error {
	f, err := b.root.Open(dir)
	if err != nil {
		return err
	}
	err = unmark(f)
	_ = f.Close() // nothing was written through it
	if err != nil {
		return err
	}
	if err := b.root.Remove(dir); err != nil && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// sentSums are the checksums that came as headers, by algorithm.
type sentSums map[types.ChecksumAlgorithm]*string

// verified gives a reader of the body that ends with an error when the checksum which came as a header is not its own.
// One that comes as a trailer is verified by versitygw's reader.
func verified(body io.Reader, algorithm types.ChecksumAlgorithm, sums sentSums) (io.Reader, error) {
	if body == nil {
		body = bytes.NewReader(nil)
	}
	if trailing, ok := body.(middlewares.ChecksumReader); ok && trailing.Algorithm() != "" {
		return body, nil
	}
	if sum := sums[algorithm]; sum != nil {
		return utils.NewHashReader(body, *sum, utils.HashType(strings.ToLower(string(algorithm))))
	}
	for name, sum := range sums {
		if sum != nil {
			return utils.NewHashReader(body, *sum, utils.HashType(strings.ToLower(string(name))))
		}
	}
	return body, nil
}
