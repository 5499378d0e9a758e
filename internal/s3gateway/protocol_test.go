package s3gateway

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestObjectsKeepWhatTheyWereSentWith(t *testing.T) {
	e := start(t)
	c := e.root(t)
	content := many(100 << 10)
	sum := md5.Sum([]byte(content))
	up, err := c.Client.PutObject(t.Context(), lake, "a/b", strings.NewReader(content), int64(len(content)), minio.PutObjectOptions{
		ContentType: "application/vnd.apache.parquet", ContentEncoding: "x-none", CacheControl: "no-cache", UserMetadata: map[string]string{"Job": "j 1"},
	})
	require.NoError(t, err)
	info, err := c.StatObject(t.Context(), lake, "a/b", minio.StatObjectOptions{})
	require.NoError(t, err)
	assert.Equal(t, hex.EncodeToString(sum[:]), info.ETag)
	assert.Equal(t, up.ETag, info.ETag)
	assert.Equal(t, int64(len(content)), info.Size)
	assert.Equal(t, "application/vnd.apache.parquet", info.ContentType)
	assert.Equal(t, "x-none", info.Metadata.Get("Content-Encoding"))
	assert.Equal(t, "no-cache", info.Metadata.Get("Cache-Control"))
	assert.Equal(t, "j 1", info.UserMetadata["Job"])
	assert.WithinDuration(t, time.Now(), info.LastModified, time.Minute)

	put(t, c, "a/b", "other")
	assert.Equal(t, "other", get(t, c, "a/b"), "an object can be replaced")
	put(t, c, "empty", "")
	assert.Empty(t, get(t, c, "empty"))
	require.NoError(t, c.RemoveObject(t.Context(), lake, "a/b", minio.RemoveObjectOptions{}))
	require.NoError(t, c.RemoveObject(t.Context(), lake, "a/b", minio.RemoveObjectOptions{}), "as S3 answers")
	_, err = tryGet(t, c, "a/b")
	assert.Equal(t, "NoSuchKey", code(err))
	_, err = c.StatObject(t.Context(), "no-such-bucket", "a", minio.StatObjectOptions{})
	assert.Error(t, err)
}

func TestRangesAndConditions(t *testing.T) {
	e := start(t)
	sdk := e.sdk(rootCredentials())
	put(t, e.root(t), "x", "0123456789")
	read := func(in *s3.GetObjectInput) (string, *s3.GetObjectOutput, error) {
		in.Bucket, in.Key = aws.String(lake), aws.String("x")
		out, err := sdk.GetObject(t.Context(), in)
		if err != nil {
			return "", nil, err
		}
		data, err := io.ReadAll(out.Body)
		return string(data), out, err
	}
	for header, want := range map[string]string{"bytes=0-0": "0", "bytes=3-5": "345", "bytes=7-": "789", "bytes=-2": "89", "bytes=8-100": "89"} {
		got, out, err := read(&s3.GetObjectInput{Range: aws.String(header)})
		require.NoError(t, err, header)
		assert.Equal(t, want, got, header)
		assert.True(t, strings.HasSuffix(*out.ContentRange, "/10"), header)
	}
	_, _, err := read(&s3.GetObjectInput{Range: aws.String("bytes=10-")})
	assert.ErrorContains(t, err, "416")
	got, _, err := read(&s3.GetObjectInput{PartNumber: aws.Int32(1)})
	require.NoError(t, err)
	assert.Equal(t, "0123456789", got)

	_, out, err := read(&s3.GetObjectInput{})
	require.NoError(t, err)
	_, _, err = read(&s3.GetObjectInput{IfNoneMatch: out.ETag})
	assert.ErrorContains(t, err, "304")
	_, _, err = read(&s3.GetObjectInput{IfMatch: out.ETag})
	require.NoError(t, err)
	_, _, err = read(&s3.GetObjectInput{IfMatch: aws.String(`"other"`)})
	assert.ErrorContains(t, err, "412")
	_, _, err = read(&s3.GetObjectInput{VersionId: aws.String("1")})
	assert.Error(t, err)
}

func TestUploadInParts(t *testing.T) {
	for name, run := range map[string]func(*testing.T, *endpoint, []string) string{"minio-go": uploadWithMinio, "AWS SDK": uploadWithSDK} {
		t.Run(name, func(t *testing.T) {
			e := start(t)
			parts := []string{many(5 << 20), strings.ToUpper(many(5 << 20)), strings.Repeat("tail", 1<<20)}
			etag := run(t, e, parts)
			c := e.root(t)
			info, err := c.StatObject(t.Context(), lake, "t/big", minio.StatObjectOptions{})
			require.NoError(t, err)
			assert.Equal(t, strings.Trim(etag, `"`), info.ETag)
			assert.True(t, strings.HasSuffix(info.ETag, "-3"), info.ETag)
			assert.Equal(t, "text/csv", info.ContentType)
			assert.True(t, strings.Join(parts, "") == get(t, c, "t/big"), "the parts, in order")
			assert.Equal(t, []string{"t/big"}, keys(t, c, ""))
			left, err := c.ListMultipartUploads(t.Context(), lake, "", "", "", "", 10)
			require.NoError(t, err)
			assert.Empty(t, left.Uploads)
		})
	}
}

func uploadWithMinio(t *testing.T, e *endpoint, parts []string) string {
	c := e.root(t)
	id, err := c.NewMultipartUpload(t.Context(), lake, "t/big", minio.PutObjectOptions{ContentType: "text/csv"})
	require.NoError(t, err)
	var done []minio.CompletePart
	for i, content := range parts {
		p, err := c.PutObjectPart(t.Context(), lake, "t/big", id, i+1, strings.NewReader(content), int64(len(content)), minio.PutObjectPartOptions{})
		require.NoError(t, err)
		done = append(done, minio.CompletePart{PartNumber: i + 1, ETag: p.ETag})
	}
	listed, err := c.ListObjectParts(t.Context(), lake, "t/big", id, 1, 1)
	require.NoError(t, err)
	require.Len(t, listed.ObjectParts, 1)
	assert.Equal(t, 2, listed.ObjectParts[0].PartNumber)
	assert.True(t, listed.IsTruncated)
	uploads, err := c.ListMultipartUploads(t.Context(), lake, "t/", "", "", "", 10)
	require.NoError(t, err)
	require.Len(t, uploads.Uploads, 1)
	assert.Equal(t, "t/big", uploads.Uploads[0].Key)

	wrong := append([]minio.CompletePart{}, done...)
	wrong[1].ETag = wrong[0].ETag
	_, err = c.CompleteMultipartUpload(t.Context(), lake, "t/big", id, wrong, minio.PutObjectOptions{})
	assert.Equal(t, "InvalidPart", code(err))
	_, err = c.CompleteMultipartUpload(t.Context(), lake, "t/big", id, []minio.CompletePart{done[2], done[1]}, minio.PutObjectOptions{})
	assert.Error(t, err)
	_, err = c.CompleteMultipartUpload(t.Context(), lake, "t/other", id, done, minio.PutObjectOptions{})
	assert.Equal(t, "NoSuchUpload", code(err))
	out, err := c.CompleteMultipartUpload(t.Context(), lake, "t/big", id, done, minio.PutObjectOptions{})
	require.NoError(t, err)
	return out.ETag
}

func uploadWithSDK(t *testing.T, e *endpoint, parts []string) string {
	sdk := e.sdk(rootCredentials())
	begun, err := sdk.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{
		Bucket: aws.String(lake), Key: aws.String("t/big"), ContentType: aws.String("text/csv"), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	})
	require.NoError(t, err)
	var done []types.CompletedPart
	for i, content := range parts {
		p, err := sdk.UploadPart(t.Context(), &s3.UploadPartInput{
			Bucket: aws.String(lake), Key: aws.String("t/big"), UploadId: begun.UploadId, PartNumber: aws.Int32(int32(i + 1)),
			Body: strings.NewReader(content), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
		})
		require.NoError(t, err)
		done = append(done, types.CompletedPart{PartNumber: aws.Int32(int32(i + 1)), ETag: p.ETag, ChecksumCRC32: p.ChecksumCRC32})
	}
	out, err := sdk.CompleteMultipartUpload(t.Context(), &s3.CompleteMultipartUploadInput{
		Bucket: aws.String(lake), Key: aws.String("t/big"), UploadId: begun.UploadId, MultipartUpload: &types.CompletedMultipartUpload{Parts: done},
	})
	require.NoError(t, err)
	return *out.ETag
}

func TestPartsAreReplacedAbortedAndTooSmall(t *testing.T) {
	e := start(t)
	c := e.root(t)
	id, err := c.NewMultipartUpload(t.Context(), lake, "k", minio.PutObjectOptions{})
	require.NoError(t, err)
	add := func(number int, content string) minio.CompletePart {
		p, err := c.PutObjectPart(t.Context(), lake, "k", id, number, strings.NewReader(content), int64(len(content)), minio.PutObjectPartOptions{})
		require.NoError(t, err)
		return minio.CompletePart{PartNumber: number, ETag: p.ETag}
	}
	first := add(1, "small")
	last := add(2, "last")
	_, err = c.CompleteMultipartUpload(t.Context(), lake, "k", id, []minio.CompletePart{first, last}, minio.PutObjectOptions{})
	assert.Equal(t, "EntityTooSmall", code(err))
	second := add(1, "sent again")
	_, err = c.CompleteMultipartUpload(t.Context(), lake, "k", id, []minio.CompletePart{first}, minio.PutObjectOptions{})
	assert.Equal(t, "InvalidPart", code(err), "the part was replaced")
	_, err = tryGet(t, c, "k")
	assert.Equal(t, "NoSuchKey", code(err), "nothing is there before it is complete")
	_, err = c.CompleteMultipartUpload(t.Context(), lake, "k", id, []minio.CompletePart{second}, minio.PutObjectOptions{})
	require.NoError(t, err)
	assert.Equal(t, "sent again", get(t, c, "k"))

	id, err = c.NewMultipartUpload(t.Context(), lake, "k2", minio.PutObjectOptions{})
	require.NoError(t, err)
	add2, err := c.PutObjectPart(t.Context(), lake, "k2", id, 1, strings.NewReader("x"), 1, minio.PutObjectPartOptions{})
	require.NoError(t, err)
	require.NoError(t, c.AbortMultipartUpload(t.Context(), lake, "k2", id))
	assert.Equal(t, "NoSuchUpload", code(c.AbortMultipartUpload(t.Context(), lake, "k2", id)))
	_, err = c.CompleteMultipartUpload(t.Context(), lake, "k2", id, []minio.CompletePart{{PartNumber: 1, ETag: add2.ETag}}, minio.PutObjectOptions{})
	assert.Equal(t, "NoSuchUpload", code(err))
}

func TestPartsAreCopied(t *testing.T) {
	e := start(t)
	c := e.root(t)
	put(t, c, "from", many(6<<20))
	id, err := c.NewMultipartUpload(t.Context(), lake, "to", minio.PutObjectOptions{})
	require.NoError(t, err)
	one, err := c.CopyObjectPart(t.Context(), lake, "from", lake, "to", id, 1, 0, 5<<20, nil)
	require.NoError(t, err)
	two, err := c.CopyObjectPart(t.Context(), lake, "from", lake, "to", id, 2, 16, 16, nil)
	require.NoError(t, err)
	_, err = c.CompleteMultipartUpload(t.Context(), lake, "to", id, []minio.CompletePart{one, two}, minio.PutObjectOptions{})
	require.NoError(t, err)
	assert.True(t, many(5<<20)+many(16) == get(t, c, "to"))
}

func TestListings(t *testing.T) {
	e := start(t)
	c := e.root(t)
	all := []string{}
	for i := range 25 {
		all = append(all, fmt.Sprintf("t/%02d/x", i))
	}
	all = append(all, "t/a", "t/a-b/x", "t/a.b", "t/a/../x"[:3]+"0/x", "z")
	for _, key := range all {
		put(t, c, key, "x")
	}
	assert.Len(t, keys(t, c, ""), len(all))
	var paged []string
	token := ""
	for {
		page, err := c.ListObjectsV2(lake, "t/", "", token, "", 7)
		require.NoError(t, err)
		for _, o := range page.Contents {
			paged = append(paged, o.Key)
			assert.NotEmpty(t, o.ETag)
		}
		if !page.IsTruncated {
			break
		}
		token = page.NextContinuationToken
	}
	assert.Len(t, paged, len(all)-1)
	assert.IsIncreasing(t, paged, "by their bytes, none twice")
	folders, err := c.ListObjectsV2(lake, "t/", "", "", "/", 1000)
	require.NoError(t, err)
	assert.Len(t, folders.CommonPrefixes, 27)
	assert.Len(t, folders.Contents, 2)
	old, err := c.ListObjects(lake, "t/a", "t/a", "", 10)
	require.NoError(t, err)
	require.Len(t, old.Contents, 3)
	after, err := c.ListObjectsV2(lake, "", "t/a", "", "", 2)
	require.NoError(t, err)
	assert.Equal(t, "t/a-b/x", after.Contents[0].Key)
}

func TestDeleteManyObjects(t *testing.T) {
	e := start(t)
	c := e.root(t)
	objects := make(chan minio.ObjectInfo, 1000)
	for i := range 1000 {
		name := key("d/%d", i)
		if i < 20 {
			put(t, c, name, "x")
		}
		objects <- minio.ObjectInfo{Key: name}
	}
	close(objects)
	for failed := range c.RemoveObjects(t.Context(), lake, objects, minio.RemoveObjectsOptions{}) {
		t.Error(failed)
	}
	assert.Empty(t, keys(t, c, ""))
}

func TestChecksumsAreVerified(t *testing.T) {
	e := start(t)
	sdk := e.sdk(rootCredentials())
	for _, algorithm := range []types.ChecksumAlgorithm{types.ChecksumAlgorithmCrc32, types.ChecksumAlgorithmCrc32c, types.ChecksumAlgorithmCrc64nvme, types.ChecksumAlgorithmSha1, types.ChecksumAlgorithmSha256} {
		_, err := sdk.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(lake), Key: aws.String("good"), Body: strings.NewReader("content"), ChecksumAlgorithm: algorithm})
		require.NoError(t, err, algorithm)
	}
	_, err := sdk.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(lake), Key: aws.String("bad"), Body: strings.NewReader("content"), ChecksumSHA256: aws.String("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")})
	assert.ErrorContains(t, err, "BadDigest")
	_, err = sdk.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(lake), Key: aws.String("bad"), Body: strings.NewReader("content"), ContentMD5: aws.String("1B2M2Y8AsgTpgAmY7PhCfg==")})
	assert.ErrorContains(t, err, "BadDigest")
	assert.Equal(t, []string{"good"}, keys(t, e.root(t), ""))
	assert.Equal(t, "content", get(t, e.root(t), "good"), "not the chunks it came in")
}

// TestOneOfManyWritesWhereNothingIs races conditional writes, among themselves and with internal/objects.
func TestOneOfManyWritesWhereNothingIs(t *testing.T) {
	e := start(t)
	c := e.root(t)
	store, base := e.files(t)
	for round := range 10 {
		name := key("race/%d", round)
		var won atomic.Int32
		var winner atomic.Value
		var all sync.WaitGroup
		for writer := range 12 {
			all.Go(func() {
				content := strings.Repeat(key("%02d", writer), 1000)
				var err error
				if writer%4 == 3 {
					err = store.CreateFile(t.Context(), base+"/"+name, []byte(content))
				} else {
					o := minio.PutObjectOptions{}
					o.SetMatchETagExcept("*")
					_, err = c.Client.PutObject(t.Context(), lake, name, strings.NewReader(content), int64(len(content)), o)
				}
				if err == nil {
					won.Add(1)
					winner.Store(content)
				} else if writer%4 != 3 {
					assert.Equal(t, "PreconditionFailed", code(err), err)
				}
			})
		}
		all.Wait()
		require.Equal(t, int32(1), won.Load(), "round %d", round)
		assert.Equal(t, winner.Load(), get(t, c, name))
	}
}

func TestConditionsOfWrites(t *testing.T) {
	e := start(t)
	c, sdk := e.root(t), e.sdk(rootCredentials())
	put(t, c, "x", "one")
	info, err := c.StatObject(t.Context(), lake, "x", minio.StatObjectOptions{})
	require.NoError(t, err)
	write := func(in *s3.PutObjectInput) error {
		in.Bucket, in.Key, in.Body = aws.String(lake), aws.String("x"), strings.NewReader("two")
		_, err := sdk.PutObject(t.Context(), in)
		return err
	}
	assert.ErrorContains(t, write(&s3.PutObjectInput{IfNoneMatch: aws.String("*")}), "PreconditionFailed")
	assert.ErrorContains(t, write(&s3.PutObjectInput{IfMatch: aws.String(`"other"`)}), "PreconditionFailed")
	require.NoError(t, write(&s3.PutObjectInput{IfMatch: &info.ETag}))
	assert.ErrorContains(t, write(&s3.PutObjectInput{IfMatch: &info.ETag}), "PreconditionFailed", "it has changed")
	assert.Equal(t, "two", get(t, c, "x"))

	id, err := c.NewMultipartUpload(t.Context(), lake, "x", minio.PutObjectOptions{})
	require.NoError(t, err)
	p, err := c.PutObjectPart(t.Context(), lake, "x", id, 1, strings.NewReader("three"), 5, minio.PutObjectPartOptions{})
	require.NoError(t, err)
	_, err = sdk.CompleteMultipartUpload(t.Context(), &s3.CompleteMultipartUploadInput{
		Bucket: aws.String(lake), Key: aws.String("x"), UploadId: &id, IfNoneMatch: aws.String("*"),
		MultipartUpload: &types.CompletedMultipartUpload{Parts: []types.CompletedPart{{PartNumber: aws.Int32(1), ETag: &p.ETag}}},
	})
	assert.ErrorContains(t, err, "PreconditionFailed")
	assert.Equal(t, "two", get(t, c, "x"))
}

func TestWhatIsNotOfferedSaysSo(t *testing.T) {
	e := start(t)
	put(t, e.root(t), "x", "x")
	for _, request := range []string{
		"PUT /lake", "DELETE /lake", "PUT /lake?policy", "PUT /lake/x?tagging", "GET /lake/x?tagging", "PUT /lake/x?acl", "PUT /lake?versioning",
		"POST /lake", "POST /lake/x?restore", "POST /lake/x?select&select-type=2", "PATCH /create-user", "GET /lake?versions", "PUT /lake/x?retention",
	} {
		method, path, _ := strings.Cut(request, " ")
		status, body := e.raw(t, rootCredentials(), method, path, "")
		assert.Equal(t, http.StatusNotImplemented, status, "%s: %s", request, body)
	}
	assert.Equal(t, "x", get(t, e.root(t), "x"))
}

func TestBodiesAreBounded(t *testing.T) {
	e := start(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.Endpoint()+"/lake?delete", bytes.NewReader(make([]byte, maxDocument+1)))
	require.NoError(t, err)
	if res, err := http.DefaultClient.Do(req); err == nil { // or the connection ends while it sends
		assert.Equal(t, http.StatusBadRequest, res.StatusCode)
		_ = res.Body.Close()
	}
	req, err = http.NewRequestWithContext(t.Context(), http.MethodPut, e.Endpoint()+"/lake/x", io.MultiReader(strings.NewReader("no length")))
	require.NoError(t, err)
	status, _ := send(t, req)
	assert.Equal(t, http.StatusLengthRequired, status)
	req, err = http.NewRequestWithContext(t.Context(), http.MethodPost, e.Endpoint()+"/", strings.NewReader(strings.Repeat("x", maxForm+1)))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	status, _ = send(t, req)
	assert.Equal(t, http.StatusBadRequest, status)
	req, err = http.NewRequestWithContext(t.Context(), http.MethodGet, e.Endpoint()+"/lake?"+strings.Repeat("x", maxHeader), nil)
	require.NoError(t, err)
	status, _ = send(t, req)
	assert.GreaterOrEqual(t, status, 400)
}
