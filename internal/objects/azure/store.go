package azure

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

// Store keeps objects in the containers of one storage account.
type Store struct {
	account *account
	order   order
	markers markers
}

var _ objects.Store = (*Store)(nil)

// New makes the store of the root's account; errors are fault.Invalid. The account is not asked anything yet.
func New(c Config, root objects.Location) (*Store, error) {
	return newStore(c, root, objects.NewTransport())
}

func newStore(c Config, root objects.Location, transport http.RoundTripper) (*Store, error) {
	a, err := newAccount(c, root, transport)
	if err != nil {
		return nil, err
	}
	return &Store{account: a, order: order{hierarchical: c.Hierarchical}}, nil
}

// begin reads the location and bounds the call's time.
func (s *Store) begin(ctx context.Context, location string) (objects.Location, context.Context, context.CancelFunc, error) {
	loc, err := objects.Parse(location)
	if err == nil {
		err = s.account.has(loc)
	}
	if err != nil {
		return objects.Location{}, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, objects.CallTimeout)
	return loc, ctx, cancel, nil
}

// beginObject is begin for one object: a container is none.
func (s *Store) beginObject(ctx context.Context, location string) (objects.Location, context.Context, context.CancelFunc, error) {
	loc, ctx, cancel, err := s.begin(ctx, location)
	if err == nil && loc.Key() == "" {
		cancel()
		return objects.Location{}, nil, nil, fault.New(fault.Invalid, "Location %s is a container. Name an object in it.", loc)
	}
	return loc, ctx, cancel, err
}

func (s *Store) blob(loc objects.Location) *blockblob.Client {
	return s.account.container(loc).NewBlockBlobClient(loc.Key())
}

// ReadFile implements objects.Store. An answer that breaks off is asked for again.
func (s *Store) ReadFile(ctx context.Context, location string) ([]byte, error) {
	return s.ReadFileUpTo(ctx, location, objects.MaxReadFile)
}

// ReadFileUpTo is ReadFile with a limit of its own, in bytes; a larger object is fault.TooLarge and is not read.
func (s *Store) ReadFileUpTo(ctx context.Context, location string, limit int64) ([]byte, error) {
	loc, ctx, cancel, err := s.beginObject(ctx, location)
	if err != nil {
		return nil, err
	}
	defer cancel()
	for attempt := 1; ; attempt++ {
		resp, err := s.blob(loc).DownloadStream(ctx, nil)
		if err != nil {
			return nil, storeFault(ctx, loc, err)
		}
		if isFolder(resp.Metadata) {
			discard(resp.Body)
			return nil, objects.Missing(loc, nil)
		}
		if resp.ContentLength == nil {
			discard(resp.Body)
			return nil, noSize(loc)
		}
		if *resp.ContentLength > limit {
			discard(resp.Body)
			return nil, objects.TooLarge(loc, *resp.ContentLength, limit)
		}
		data := make([]byte, *resp.ContentLength)
		_, err = io.ReadFull(resp.Body, data)
		discard(resp.Body)
		if err == nil {
			return data, nil
		}
		if ctx.Err() != nil || attempt == objects.Attempts {
			return nil, storeFault(ctx, loc, err)
		}
	}
}

// noSize is the answer to an object whose size cannot be had.
func noSize(loc objects.Location) error {
	return fault.New(fault.Unavailable, "Azure does not say how large %s is. Try again, and look at the proxies before it if this stays.", loc)
}

// CreateFile implements objects.Store by a conditional Put Blob (If-None-Match: *).
func (s *Store) CreateFile(ctx context.Context, location string, data []byte) error {
	loc, ctx, cancel, err := s.beginObject(ctx, location)
	if err != nil {
		return err
	}
	defer cancel()
	ctx, sent := objects.CountAttempts(ctx)
	_, err = s.blob(loc).Upload(ctx, streaming.NopCloser(bytes.NewReader(data)), &blockblob.UploadOptions{
		HTTPHeaders:             &blob.HTTPHeaders{BlobContentType: to.Ptr(objects.ContentType(loc))},
		TransactionalValidation: blob.TransferValidationTypeComputeCRC64(),
		AccessConditions:        &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}},
	})
	if err == nil {
		return nil
	}
	if !isTaken(err) {
		return writeFault(ctx, loc, err)
	}
	// A retried request fails its own condition when the answer to the first one was lost.
	if sent.Load() > 1 && s.holds(ctx, loc, data) {
		return nil
	}
	return objects.Taken(loc, err)
}

// writeFault is storeFault of a write, to which nothing is missing but what it should lie in.
func writeFault(ctx context.Context, loc objects.Location, err error) error {
	if f := storeFault(ctx, loc, err); !fault.Is(f, fault.NotFound) {
		return f
	}
	return fault.Wrap(err, fault.Unavailable, "Azure could not write %s. Check that no object is where one of its folders must be.", loc)
}

// holds tells whether the object is there with this very content.
func (s *Store) holds(ctx context.Context, loc objects.Location, data []byte) bool {
	found, err := s.ReadFileUpTo(ctx, loc.String(), int64(len(data)))
	return err == nil && bytes.Equal(found, data)
}

// DeleteFile implements objects.Store. Snapshots of the object go with it.
func (s *Store) DeleteFile(ctx context.Context, location string) error {
	loc, ctx, cancel, err := s.beginObject(ctx, location)
	if err != nil {
		return err
	}
	defer cancel()
	_, err = s.blob(loc).Delete(ctx, &blob.DeleteOptions{DeleteSnapshots: to.Ptr(blob.DeleteSnapshotsOptionTypeInclude)})
	if err == nil {
		return nil
	}
	if _, code := answer(err); code == directoryIsNotEmpty {
		return nil // a folder, and what is in it stays
	}
	if err = storeFault(ctx, loc, err); fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// Stat implements objects.Store.
func (s *Store) Stat(ctx context.Context, location string) (objects.Info, error) {
	loc, ctx, cancel, err := s.beginObject(ctx, location)
	if err != nil {
		return objects.Info{}, err
	}
	defer cancel()
	info, _, err := s.head(ctx, loc)
	return info, err
}

// head asks for an object's size, time and version.
func (s *Store) head(ctx context.Context, loc objects.Location) (objects.Info, *azcore.ETag, error) {
	found, err := s.blob(loc).GetProperties(ctx, nil)
	switch {
	case err != nil:
		return objects.Info{}, nil, storeFault(ctx, loc, err)
	case isFolder(found.Metadata):
		return objects.Info{}, nil, objects.Missing(loc, nil)
	case found.ContentLength == nil:
		return objects.Info{}, nil, noSize(loc)
	}
	info := objects.Info{Location: loc.String(), Size: *found.ContentLength}
	if found.LastModified != nil {
		info.Modified = *found.LastModified
	}
	if found.ETag != nil {
		info.ETag = strings.Trim(string(*found.ETag), `"`)
	}
	return info, found.ETag, nil
}

// OpenFile implements objects.Store. Reads are ranged requests for the version of the object that was opened.
func (s *Store) OpenFile(ctx context.Context, location string) (objects.File, error) {
	loc, callCtx, cancel, err := s.beginObject(ctx, location)
	if err != nil {
		return nil, err
	}
	defer cancel()
	info, etag, err := s.head(callCtx, loc)
	if err != nil {
		return nil, err
	}
	return objects.NewRangedFile(info.Size, s.ranges(ctx, loc, etag)), nil
}

// ranges reads parts of the version of an object that has the etag. An answer that breaks off is asked for again.
func (s *Store) ranges(ctx context.Context, loc objects.Location, etag *azcore.ETag) func(p []byte, off int64) error {
	return func(p []byte, off int64) error {
		ctx, cancel := context.WithTimeout(ctx, objects.CallTimeout)
		defer cancel()
		options := &blob.DownloadStreamOptions{
			Range:            blob.HTTPRange{Offset: off, Count: int64(len(p))},
			AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: etag}},
		}
		return objects.Fill(ctx, p, func() (io.ReadCloser, error) {
			resp, err := s.blob(loc).DownloadStream(ctx, options)
			if isReplaced(err) {
				return nil, objects.Replaced(loc, err)
			}
			if err != nil {
				return nil, storeFault(ctx, loc, err)
			}
			if resp.ContentLength == nil || *resp.ContentLength != int64(len(p)) {
				discard(resp.Body)
				return nil, fault.New(fault.Unavailable, "Azure gave other bytes of %s than were asked for. Look at the proxies before it if this stays.", loc)
			}
			return resp.Body, nil
		}, func(err error) error { return storeFault(ctx, loc, err) })
	}
}

// EnsureFolder implements objects.Store: folders come with the objects in them.
func (*Store) EnsureFolder(_ context.Context, location string) error {
	_, err := objects.Parse(location)
	return err
}

// discard closes what was only read from: nothing is lost by an error.
func discard(c io.Closer) { _ = c.Close() }
