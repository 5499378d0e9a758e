package folder

import (
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // S3's ETag is made of them
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
)

// minPart is the smallest part but the last, in bytes, as in S3.
const minPart = 5 << 20

// CreateMultipartUpload implements backend.Backend. The checksum algorithm is not kept: each part's is verified when
// the part comes.
func (b *Backend) CreateMultipartUpload(_ context.Context, in s3response.CreateMultipartUploadInput) (s3response.InitiateMultipartUploadResult, error) {
	var none s3response.InitiateMultipartUploadResult
	bucket, err := b.bucket(in.Bucket)
	if err == nil {
		err = CheckKey(*in.Key)
	}
	if err == nil && marker(*in.Key) {
		err = s3err.GetAPIError(s3err.ErrDirectoryObjectContainsData)
	}
	if err == nil && text(in.Tagging) != "" {
		err = s3err.GetAPIError(s3err.ErrNotImplemented)
	}
	if err != nil {
		return none, err
	}
	u, err := bucket.newUpload(*in.Key, attributes{
		Type: text(in.ContentType), Encoding: encoding(in.ContentEncoding), Disposition: text(in.ContentDisposition),
		Language: text(in.ContentLanguage), Cache: text(in.CacheControl), Expires: text(in.Expires), Meta: in.Metadata,
	})
	if err != nil {
		return none, b.fail("begin an upload", err)
	}
	return s3response.InitiateMultipartUploadResult{Bucket: *in.Bucket, Key: *in.Key, UploadId: u.id}, nil
}

// upload finds the upload of a request.
func (b *Backend) upload(bucketName, key, id *string) (*upload, error) {
	bucket, err := b.bucket(bucketName)
	if err != nil {
		return nil, err
	}
	u, err := bucket.findUpload(text(id), text(key))
	return u, b.fail("find an upload", err)
}

// UploadPart implements backend.Backend.
func (b *Backend) UploadPart(_ context.Context, in *s3.UploadPartInput) (*s3.UploadPartOutput, error) {
	u, err := b.upload(in.Bucket, in.Key, in.UploadId)
	if err != nil {
		return nil, err
	}
	body, err := verified(in.Body, in.ChecksumAlgorithm, sentSums{
		types.ChecksumAlgorithmCrc32: in.ChecksumCRC32, types.ChecksumAlgorithmCrc32c: in.ChecksumCRC32C,
		types.ChecksumAlgorithmCrc64nvme: in.ChecksumCRC64NVME, types.ChecksumAlgorithmSha1: in.ChecksumSHA1,
		types.ChecksumAlgorithmSha256: in.ChecksumSHA256, types.ChecksumAlgorithmSha512: in.ChecksumSHA512,
		types.ChecksumAlgorithmMd5: in.ChecksumMD5, types.ChecksumAlgorithmXxhash64: in.ChecksumXXHASH64,
		types.ChecksumAlgorithmXxhash3: in.ChecksumXXHASH3, types.ChecksumAlgorithmXxhash128: in.ChecksumXXHASH128,
	})
	if err != nil {
		return nil, b.fail("upload a part", err)
	}
	size, err := statedSize(in.ContentLength)
	if err != nil {
		return nil, err
	}
	p, err := u.write(int(*in.PartNumber), body, size)
	if err != nil {
		return nil, b.fail("upload a part", err)
	}
	return &s3.UploadPartOutput{ETag: textOrNil(quoted(p.etag))}, nil
}

// CompleteMultipartUpload implements backend.Backend.
func (b *Backend) CompleteMultipartUpload(_ context.Context, in *s3.CompleteMultipartUploadInput) (s3response.CompleteMultipartUploadResult, string, error) {
	u, err := b.upload(in.Bucket, in.Key, in.UploadId)
	if err != nil {
		return s3response.CompleteMultipartUploadResult{}, "", err
	}
	etag, err := u.complete(in)
	if err != nil {
		return s3response.CompleteMultipartUploadResult{}, "", b.fail("complete an upload", err)
	}
	return s3response.CompleteMultipartUploadResult{Bucket: in.Bucket, Key: in.Key, ETag: textOrNil(quoted(etag))}, "", nil
}

// complete makes the object out of the parts. Where a condition does not hold the upload stays.
func (u *upload) complete(in *s3.CompleteMultipartUploadInput) (string, error) {
	c := conditions{in.IfMatch, in.IfNoneMatch}
	if err := u.bucket.allowed(u.record.Key, c); err != nil {
		return "", err
	}
	there, err := u.parts()
	if absent(err) {
		return "", s3err.GetNoSuchUploadErr(u.id)
	}
	if err != nil {
		return "", err
	}
	parts, etag, err := u.chosen(there, in.MultipartUpload.Parts)
	if err != nil {
		return "", err
	}
	s, err := u.bucket.newStaged()
	if err != nil {
		return "", err
	}
	defer s.discard()
	if err := u.join(s, parts); absent(err) {
		return "", s3err.GetNoSuchUploadErr(u.id) // somebody else completed it
	} else if err != nil {
		return "", err
	}
	if in.MpuObjectSize != nil && *in.MpuObjectSize != s.size {
		return "", s3err.GetAPIError(s3err.ErrInvalidRequest)
	}
	a := u.record.Attributes
	a.ETag = etag
	if etag, err = u.bucket.publish(s, u.record.Key, a, c); err != nil {
		return "", err
	}
	_ = u.remove() // the object is there; leftovers are swept
	return etag, nil
}

// chosen gives the parts that a request lists, and the ETag of the object they make.
func (u *upload) chosen(there []part, listed []types.CompletedPart) ([]part, string, error) {
	byNumber := map[int]part{}
	for _, p := range there {
		byNumber[p.number] = p
	}
	sum := md5.New() //nolint:gosec // S3's ETag is made of them
	var parts []part
	last := int32(0)
	for i, want := range listed {
		if want.PartNumber == nil || want.ETag == nil {
			return nil, "", s3err.GetAPIError(s3err.ErrMalformedXML)
		}
		number, etag := *want.PartNumber, strings.Trim(*want.ETag, `"`)
		p, found := byNumber[int(number)]
		raw, err := hex.DecodeString(p.etag)
		switch {
		case number <= last:
			return nil, "", s3err.GetAPIError(s3err.ErrInvalidPartOrder)
		case !found || p.etag != etag || err != nil:
			return nil, "", s3err.GetInvalidPartErr(u.id, number, etag)
		case p.size < minPart && i < len(listed)-1:
			return nil, "", s3err.GetEntityTooSmallErr(p.size, minPart)
		}
		_, _ = sum.Write(raw) // a hash takes everything
		parts, last = append(parts, p), number
	}
	return parts, fmt.Sprintf("%s-%d", hex.EncodeToString(sum.Sum(nil)), len(parts)), nil
}

// AbortMultipartUpload implements backend.Backend.
func (b *Backend) AbortMultipartUpload(_ context.Context, in *s3.AbortMultipartUploadInput) error {
	u, err := b.upload(in.Bucket, in.Key, in.UploadId)
	if err != nil {
		return err
	}
	defer u.bucket.lock(u.id).Unlock()
	return b.fail("abort an upload", u.remove())
}

// ListParts implements backend.Backend.
func (b *Backend) ListParts(_ context.Context, in *s3.ListPartsInput) (s3response.ListPartsResult, error) {
	u, err := b.upload(in.Bucket, in.Key, in.UploadId)
	if err != nil {
		return s3response.ListPartsResult{}, err
	}
	parts, err := u.parts()
	if absent(err) {
		return s3response.ListPartsResult{}, s3err.GetNoSuchUploadErr(u.id)
	}
	if err != nil {
		return s3response.ListPartsResult{}, b.fail("list parts", err)
	}
	after, _ := strconv.Atoi(text(in.PartNumberMarker)) // checked before
	out := s3response.ListPartsResult{
		Bucket: *in.Bucket, Key: *in.Key, UploadID: u.id, StorageClass: types.StorageClassStandard,
		PartNumberMarker: after, MaxParts: int(*in.MaxParts),
	}
	for _, p := range parts {
		if p.number <= after {
			continue
		}
		if len(out.Parts) == out.MaxParts {
			out.IsTruncated = true
			break
		}
		out.Parts = append(out.Parts, s3response.Part{PartNumber: p.number, ETag: quoted(p.etag), Size: p.size, LastModified: p.modified})
		out.NextPartNumberMarker = p.number
	}
	return out, nil
}

// ListMultipartUploads implements backend.Backend. A delimiter is not looked at.
func (b *Backend) ListMultipartUploads(_ context.Context, in *s3.ListMultipartUploadsInput) (s3response.ListMultipartUploadsResult, error) {
	out := s3response.ListMultipartUploadsResult{
		Bucket: *in.Bucket, Prefix: text(in.Prefix), KeyMarker: text(in.KeyMarker), UploadIDMarker: text(in.UploadIdMarker),
		MaxUploads: int(*in.MaxUploads),
	}
	bucket, err := b.bucket(in.Bucket)
	if err != nil {
		return out, err
	}
	found, err := bucket.uploads()
	if err != nil {
		return out, b.fail("list uploads", err)
	}
	slices.SortFunc(found, func(a, b *upload) int {
		return cmp.Or(cmp.Compare(a.record.Key, b.record.Key), cmp.Compare(a.id, b.id))
	})
	for _, u := range found {
		same := u.record.Key == out.KeyMarker && (out.UploadIDMarker == "" || u.id <= out.UploadIDMarker)
		if !strings.HasPrefix(u.record.Key, out.Prefix) || u.record.Key < out.KeyMarker || same {
			continue
		}
		if len(out.Uploads) == out.MaxUploads {
			out.IsTruncated = true
			break
		}
		out.Uploads = append(out.Uploads, s3response.Upload{
			Key: u.record.Key, UploadID: u.id, Initiated: u.record.Initiated, StorageClass: types.StorageClassStandard,
		})
		out.NextKeyMarker, out.NextUploadIDMarker = u.record.Key, u.id
	}
	if !out.IsTruncated {
		out.NextKeyMarker, out.NextUploadIDMarker = "", ""
	}
	return out, nil
}
