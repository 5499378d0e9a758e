package folder

import (
	"context"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
)

// CopyObject implements backend.Backend.
func (b *Backend) CopyObject(_ context.Context, in s3response.CopyObjectInput) (s3response.CopyObjectOutput, error) {
	target, err := b.bucket(in.Bucket)
	if err == nil {
		err = CheckKey(*in.Key)
	}
	if err != nil {
		return s3response.CopyObjectOutput{}, err
	}
	source, err := b.source(in.CopySource, backend.PreConditions{
		IfMatch: in.CopySourceIfMatch, IfNoneMatch: in.CopySourceIfNoneMatch,
		IfModSince: in.CopySourceIfModifiedSince, IfUnmodeSince: in.CopySourceIfUnmodifiedSince,
	})
	if err != nil {
		return s3response.CopyObjectOutput{}, b.fail("copy object", err)
	}
	defer source.close()
	a := source.attrs
	if in.MetadataDirective == types.MetadataDirectiveReplace {
		a = attributes{
			Type: text(in.ContentType), Encoding: encoding(in.ContentEncoding), Disposition: text(in.ContentDisposition),
			Language: text(in.ContentLanguage), Cache: text(in.CacheControl), Expires: text(in.Expires), Meta: in.Metadata,
		}
	}
	etag, _, err := target.write(*in.Key, io.NewSectionReader(source.file, 0, source.size()), source.size(), a, conditions{})
	if err != nil {
		return s3response.CopyObjectOutput{}, b.fail("copy object", err)
	}
	copied, err := target.open(*in.Key)
	if err != nil {
		return s3response.CopyObjectOutput{}, b.fail("copy object", err)
	}
	defer copied.close()
	return s3response.CopyObjectOutput{CopyObjectResult: &s3response.CopyObjectResult{
		ETag: textOrNil(quoted(etag)), LastModified: new(copied.info.ModTime()),
	}}, nil
}

// source opens the object that a request copies from.
func (b *Backend) source(header *string, c backend.PreConditions) (*object, error) {
	bucket, key, err := copySource(*header)
	if err != nil {
		return nil, err
	}
	found, err := b.find(&bucket, &key, nil, c)
	if err != nil {
		return nil, err
	}
	if found.size() > maxAtOnce {
		found.close()
		return nil, s3err.GetCopySourceObjectTooLargeErr(maxAtOnce)
	}
	return found, nil
}

// UploadPartCopy implements backend.Backend.
func (b *Backend) UploadPartCopy(_ context.Context, in *s3.UploadPartCopyInput) (s3response.CopyPartResult, error) {
	u, err := b.upload(in.Bucket, in.Key, in.UploadId)
	if err != nil {
		return s3response.CopyPartResult{}, err
	}
	source, err := b.source(in.CopySource, backend.PreConditions{
		IfMatch: in.CopySourceIfMatch, IfNoneMatch: in.CopySourceIfNoneMatch,
		IfModSince: in.CopySourceIfModifiedSince, IfUnmodeSince: in.CopySourceIfUnmodifiedSince,
	})
	if err != nil {
		return s3response.CopyPartResult{}, b.fail("copy part", err)
	}
	defer source.close()
	start, length, err := backend.ParseCopySourceRange(source.size(), text(in.CopySourceRange))
	if err != nil {
		return s3response.CopyPartResult{}, b.fail("copy part", err)
	}
	p, err := u.write(int(*in.PartNumber), io.NewSectionReader(source.file, start, length), length)
	if err != nil {
		return s3response.CopyPartResult{}, b.fail("copy part", err)
	}
	return s3response.CopyPartResult{ETag: textOrNil(quoted(p.etag)), LastModified: p.modified}, nil
}
