package objects

import (
	"bytes"
	"context"

	"github.com/minio/minio-go/v7"

	"github.com/sluice-data/sluice/internal/fault"
)

// CheckMultipart shows that an object can be uploaded in parts, as engines do with large files, and that an upload can be
// given up. It leaves an object at the location. The error says which of the calls failed.
func (s *S3Store) CheckMultipart(ctx context.Context, location string) error {
	loc, ctx, cancel, err := s.beginObject(ctx, location)
	if err != nil {
		return err
	}
	defer cancel()
	content := []byte("This object was uploaded in parts to validate the storage and can be removed.\n")
	id, part, err := s.uploadPart(ctx, loc, content)
	if err != nil {
		return err
	}
	_, err = s.core.CompleteMultipartUpload(ctx, loc.Bucket(), loc.Key(), id, []minio.CompletePart{part}, minio.PutObjectOptions{})
	if err != nil {
		_ = s.core.AbortMultipartUpload(context.WithoutCancel(ctx), loc.Bucket(), loc.Key(), id) // what failed before is to be told
		return callFault(ctx, loc, "CompleteMultipartUpload", err)
	}
	found, err := s.ReadFile(ctx, location)
	if err != nil {
		return err
	}
	if !bytes.Equal(found, content) {
		return fault.New(fault.Unavailable, "The object store gave back other content than was uploaded in parts to %s.", loc)
	}
	if id, _, err = s.uploadPart(ctx, loc, content); err != nil {
		return err
	}
	if err := s.core.AbortMultipartUpload(ctx, loc.Bucket(), loc.Key(), id); err != nil {
		return callFault(ctx, loc, "AbortMultipartUpload", err)
	}
	return nil
}

// uploadPart begins an upload and sends its first part.
func (s *S3Store) uploadPart(ctx context.Context, loc Location, content []byte) (id string, part minio.CompletePart, err error) {
	id, err = s.core.NewMultipartUpload(ctx, loc.Bucket(), loc.Key(), minio.PutObjectOptions{ContentType: ContentType(loc)})
	if err != nil {
		return "", part, callFault(ctx, loc, "CreateMultipartUpload", err)
	}
	sent, err := s.core.PutObjectPart(ctx, loc.Bucket(), loc.Key(), id, 1, bytes.NewReader(content), int64(len(content)), minio.PutObjectPartOptions{})
	if err != nil {
		_ = s.core.AbortMultipartUpload(context.WithoutCancel(ctx), loc.Bucket(), loc.Key(), id) // what failed before is to be told
		return "", part, callFault(ctx, loc, "UploadPart", err)
	}
	return id, minio.CompletePart{PartNumber: 1, ETag: sent.ETag}, nil
}

// callFault names the call that failed.
func callFault(ctx context.Context, loc Location, call string, err error) error {
	err = s3Fault(ctx, loc, err)
	return fault.Wrap(err, fault.Unavailable, "%s failed: %s", call, fault.PublicMessage(err))
}

// Refused tells whether a store refused the keys that it was asked with, and gives its own word for it, "" for none.
func Refused(err error) (code string, refused bool) {
	resp := answer(err)
	return resp.Code, resp.StatusCode == 401 || resp.StatusCode == 403
}
