package maintenance

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/tableread"
)

// errEnough ends reads that took all that they may.
var errEnough = errors.New("enough was read")

// meter counts the bytes of a read, which are in the context of all that it does.
type meter struct{ left atomic.Int64 }

type meterKey struct{}

func withMeter(ctx context.Context, bytes int64) (context.Context, *meter) {
	m := &meter{}
	m.left.Store(bytes)
	return context.WithValue(ctx, meterKey{}, m), m
}

// take counts what was read, and fails once that is all.
func (m *meter) take(bytes int) error {
	if m.left.Add(-int64(bytes)) < 0 {
		return errEnough
	}
	return nil
}

// metered is files whose reads the meter of their context counts.
type metered struct{ tableread.Files }

func (f metered) ReadFile(ctx context.Context, location string) ([]byte, error) {
	m, isMetered := ctx.Value(meterKey{}).(*meter)
	if isMetered && m.left.Load() < 0 {
		return nil, errEnough
	}
	raw, err := f.Files.ReadFile(ctx, location)
	if err == nil && isMetered {
		err = m.take(len(raw))
	}
	return raw, err
}

func (f metered) OpenFile(ctx context.Context, location string) (objects.File, error) {
	file, err := f.Files.OpenFile(ctx, location)
	if m, ok := ctx.Value(meterKey{}).(*meter); ok && err == nil {
		return &meteredFile{file, m}, nil
	}
	return file, err
}

type meteredFile struct {
	objects.File
	meter *meter
}

// ReadAt implements io.ReaderAt, which is how data files are read.
func (f *meteredFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.meter.take(len(p)); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}
