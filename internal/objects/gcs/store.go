package gcs

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"
	"golang.org/x/oauth2"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

// Store keeps objects in the buckets that one identity reaches. The bucket is the location's.
type Store struct {
	client *storage.Client
}

var _ objects.Store = (*Store)(nil)

// New makes the store; errors are fault.Invalid. Google is not asked anything yet, so that the identity of the machine is
// looked for when the first object is.
func New(ctx context.Context, c Config, root objects.Location) (*Store, error) {
	if err := c.check(root); err != nil {
		return nil, err
	}
	transport := objects.NewTransport()
	var signed http.RoundTripper = transport
	if !c.Anonymous {
		own := &tokens{find: c.own, ctx: withClient(transport)}
		signed = &oauth2.Transport{Base: transport, Source: &tokens{find: c.acting(own, transport, 0), ctx: withClient(transport)}}
	}
	client, err := storage.NewClient(ctx, option.WithHTTPClient(&http.Client{Transport: objects.CountingTransport{Next: signed}}),
		option.WithEndpoint(c.endpoint()), storage.WithDisabledClientMetrics())
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The connection to Google Cloud Storage cannot be set up. Check its endpoint.")
	}
	client.SetRetry(storage.WithPolicy(storage.RetryAlways), storage.WithMaxAttempts(objects.Attempts), storage.WithErrorFunc(again),
		storage.WithBackoff(gax.Backoff{Initial: 200 * time.Millisecond, Max: 2 * time.Second, Multiplier: 2}))
	return &Store{client: client}, nil
}

// again tells what is worth another attempt. All calls of the Store are safe to repeat.
func again(err error) bool { return !errors.Is(err, errSignIn) && storage.ShouldRetry(err) }

// Close gives the connections back.
func (s *Store) Close() error { return s.client.Close() }

// begin reads the location and bounds the call's time.
func (s *Store) begin(ctx context.Context, location string) (objects.Location, context.Context, context.CancelFunc, error) {
	loc, err := objects.Parse(location)
	if err != nil {
		return objects.Location{}, nil, nil, err
	}
	if !loc.IsGCS() {
		return objects.Location{}, nil, nil, fault.New(fault.Forbidden, "Location %s is not in Google Cloud Storage. Use one such as gs://bucket/path.", loc)
	}
	ctx, cancel := context.WithTimeout(ctx, objects.CallTimeout)
	return loc, ctx, cancel, nil
}

// beginObject is begin for one object: a bucket is none.
func (s *Store) beginObject(ctx context.Context, location string) (objects.Location, context.Context, context.CancelFunc, error) {
	loc, ctx, cancel, err := s.begin(ctx, location)
	if err == nil && loc.Key() == "" {
		cancel()
		return objects.Location{}, nil, nil, fault.New(fault.Invalid, "Location %s is a bucket. Name an object in it.", loc)
	}
	return loc, ctx, cancel, err
}

// object is one as it is stored, whatever its Content-Encoding.
func (s *Store) object(loc objects.Location) *storage.ObjectHandle {
	return s.client.Bucket(loc.Bucket()).Object(loc.Key()).ReadCompressed(true)
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
		body, err := s.object(loc).NewReader(ctx)
		if err != nil {
			return nil, storeFault(ctx, loc, err)
		}
		size := body.Attrs.Size
		if size > limit {
			discard(body)
			return nil, objects.TooLarge(loc, size, limit)
		}
		if size < 0 {
			discard(body)
			return nil, fault.New(fault.Unavailable, "Google Cloud Storage does not say how large %s is. Try again, and look at the proxies before it if this stays.", loc)
		}
		data := make([]byte, size)
		_, err = io.ReadFull(body, data)
		discard(body)
		if err == nil {
			return data, nil
		}
		if ctx.Err() != nil || attempt == objects.Attempts {
			return nil, storeFault(ctx, loc, err)
		}
	}
}

// CreateFile implements objects.Store by an upload in one request on the condition that nothing is there.
func (s *Store) CreateFile(ctx context.Context, location string, data []byte) error {
	loc, ctx, cancel, err := s.beginObject(ctx, location)
	if err != nil {
		return err
	}
	defer cancel()
	ctx, sent := objects.CountAttempts(ctx)
	for attempt := 1; ; attempt++ {
		if err = s.put(ctx, loc, data); err == nil {
			return nil
		}
		if ctx.Err() != nil || conditionFailed(err) || !again(err) || attempt == objects.Attempts {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(attempt) * 200 * time.Millisecond):
		}
	}
	switch {
	case !conditionFailed(err):
		return writeFault(ctx, loc, err)
	case sent.Load() > 1 && s.holds(ctx, loc, data): // the answer to an attempt before was lost
		return nil
	}
	return objects.Taken(loc, err)
}

// writeFault is storeFault of a write, to which nothing is missing but the bucket.
func writeFault(ctx context.Context, loc objects.Location, err error) error {
	if f := storeFault(ctx, loc, err); !fault.Is(f, fault.NotFound) {
		return f
	}
	return noBucket(loc, err)
}

// put sends one upload.
func (s *Store) put(ctx context.Context, loc objects.Location, data []byte) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // an upload that was begun and not closed ends without an object
	w := s.object(loc).If(storage.Conditions{DoesNotExist: true}).Retryer(storage.WithPolicy(storage.RetryNever)).NewWriter(ctx)
	w.ChunkSize = 0 // one request
	w.ContentType = objects.ContentType(loc)
	w.CRC32C, w.SendCRC32C = crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)), true
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Close()
}

// holds tells whether the object is there with this very content.
func (s *Store) holds(ctx context.Context, loc objects.Location, data []byte) bool {
	found, err := s.ReadFileUpTo(ctx, loc.String(), int64(len(data)))
	return err == nil && bytes.Equal(found, data)
}

// DeleteFile implements objects.Store.
func (s *Store) DeleteFile(ctx context.Context, location string) error {
	loc, ctx, cancel, err := s.beginObject(ctx, location)
	if err != nil {
		return err
	}
	defer cancel()
	if err = s.object(loc).Delete(ctx); err == nil {
		return nil
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
	found, err := s.object(loc).Attrs(ctx)
	if err != nil {
		return objects.Info{}, storeFault(ctx, loc, err)
	}
	return objects.Info{Location: loc.String(), Size: found.Size, Modified: found.Created, ETag: strconv.FormatInt(found.Generation, 10)}, nil
}

// List implements objects.Store. Names that end with a slash, which some tools make to stand for folders, are not shown.
func (s *Store) List(ctx context.Context, prefix, after string, limit int) ([]objects.Info, error) {
	loc, ctx, cancel, err := s.begin(ctx, prefix)
	if err != nil {
		return nil, err
	}
	defer cancel()
	afterKey, err := objects.KeyAfter(loc, after)
	if err != nil {
		return nil, err
	}
	limit = objects.PageSize(limit)
	query := &storage.Query{StartOffset: afterKey, Projection: storage.ProjectionNoACL}
	if loc.Key() != "" {
		query.Prefix = loc.Key() + "/"
	}
	if err := query.SetAttrSelection([]string{"Name", "Size", "Created"}); err != nil {
		return nil, fault.Wrap(err, fault.Internal, "Google Cloud Storage could not be asked for %s.", loc)
	}
	listing := s.client.Bucket(loc.Bucket()).Objects(ctx, query)
	listing.PageInfo().MaxSize = limit + 1 // the offset is the last one of the page before, which may be there still
	found := make([]objects.Info, 0, min(limit, 64))
	for len(found) < limit {
		object, err := listing.Next()
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			if f := storeFault(ctx, loc, err); !fault.Is(f, fault.NotFound) {
				return nil, f
			}
			return nil, noBucket(loc, err)
		}
		if strings.HasSuffix(object.Name, "/") || object.Name <= afterKey {
			continue
		}
		found = append(found, objects.Info{Location: loc.At(object.Name).String(), Size: object.Size, Modified: object.Created})
	}
	return found, nil
}

// OpenFile implements objects.Store. Reads are ranged requests for the generation of the object that was opened.
func (s *Store) OpenFile(ctx context.Context, location string) (objects.File, error) {
	loc, callCtx, cancel, err := s.beginObject(ctx, location)
	if err != nil {
		return nil, err
	}
	defer cancel()
	found, err := s.object(loc).Attrs(callCtx)
	if err != nil {
		return nil, storeFault(callCtx, loc, err)
	}
	return objects.NewRangedFile(found.Size, s.ranges(ctx, loc, found.Generation)), nil
}

// ranges reads parts of a generation of an object. An answer that breaks off is asked for again.
func (s *Store) ranges(ctx context.Context, loc objects.Location, generation int64) func(p []byte, off int64) error {
	return func(p []byte, off int64) error {
		ctx, cancel := context.WithTimeout(ctx, objects.CallTimeout)
		defer cancel()
		object := s.object(loc).If(storage.Conditions{GenerationMatch: generation})
		return objects.Fill(ctx, p, func() (io.ReadCloser, error) {
			body, err := object.NewRangeReader(ctx, off, int64(len(p)))
			switch {
			case conditionFailed(err):
				return nil, objects.Replaced(loc, err)
			case err != nil:
				return nil, storeFault(ctx, loc, err)
			}
			return body, nil
		}, func(err error) error { return storeFault(ctx, loc, err) })
	}
}

// EnsureFolder implements objects.Store: object stores have no folders.
func (*Store) EnsureFolder(_ context.Context, location string) error {
	_, err := objects.Parse(location)
	return err
}

// discard closes what was only read from: nothing is lost by an error.
func discard(c io.Closer) { _ = c.Close() }
