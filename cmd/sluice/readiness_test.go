package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProbe(t *testing.T) {
	now := time.Unix(1000, 0)
	tries, broken := 0, errors.New("no space left on device")
	var outcome func(context.Context) error
	p := newProbe(func(ctx context.Context) error { tries++; return outcome(ctx) }, func() time.Time { return now })
	fine := func(context.Context) error { return nil }
	fails := func(context.Context) error { return broken }
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for i, step := range []struct {
		after   time.Duration
		outcome func(context.Context) error
		want    error
		tries   int
	}{
		{0, fine, nil, 1},
		{time.Second, fails, nil, 1}, // not tried again yet
		{probeEvery, fails, broken, 2},
		{time.Second, fine, broken, 2},
		{probeEvery, fine, nil, 3},
		{probeEvery, hangs, nil, 4}, // slow once
		{probeEvery, hangs, context.DeadlineExceeded, 5},
		{probeEvery, fine, nil, 6},
	} {
		now, outcome = now.Add(step.after), step.outcome
		gone, hangUp := context.WithCancel(t.Context())
		hangUp() // who asks is gone: that is not the database's fault
		assert.ErrorIs(t, p.run(gone), step.want, "step %d", i)
		assert.Equal(t, step.tries, tries, "step %d", i)
	}
}

func TestWarehousesAreProbedByWriting(t *testing.T) {
	folder := t.TempDir()
	first, second := filepath.Join(folder, "a"), filepath.Join(folder, "b")
	roots := []string{"file://" + first, "s3://lake/warehouse", "file://" + second}
	folders := localFolders(roots)
	require.Equal(t, []string{first, second}, folders)
	for _, f := range folders {
		require.NoError(t, os.Mkdir(f, 0o700))
	}
	require.NoError(t, writeProbes(folders))
	left, err := os.ReadDir(first)
	require.NoError(t, err)
	assert.Empty(t, left)

	require.NoError(t, os.Rename(second, second+"-away"))
	require.Error(t, writeProbes(folders), "one of them is gone")
	full, err := os.Stat("/dev/full")
	if err == nil && full.Mode()&os.ModeDevice != 0 { // a disk on which nothing fits
		require.NoError(t, os.Symlink("/dev/full", filepath.Join(first, probeFile)))
		require.ErrorContains(t, writeProbes([]string{first}), "no space left")
	}
}
