package objects

import (
	"bytes"
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
)

// probePrefix begins the names of the objects that Check makes.
const probePrefix = ".sluice-probe-"

// Check shows that a root does all that Sluice needs: it creates an object, is refused a second one of the name, reads,
// lists and deletes it. The error says what is wanting, and nothing is left behind where the store lets it be removed.
func Check(ctx context.Context, store Store, root string) error {
	base, err := Parse(root)
	if err != nil {
		return err
	}
	loc, err := Join(base, probePrefix+uuid.NewString())
	if err != nil {
		return err
	}
	probe := loc.String()
	content := []byte("This object was made by `sluice doctor` and can be removed.\n")
	if err := store.CreateFile(ctx, probe, content); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = store.DeleteFile(ctx, probe) // deleted already unless a step below failed
	}()
	if err := checkCreated(ctx, store, base, probe, content); err != nil {
		return err
	}
	return checkDeleted(ctx, store, probe)
}

// checkCreated looks at the probe from every side.
func checkCreated(ctx context.Context, store Store, base Location, probe string, content []byte) error {
	switch err := store.CreateFile(ctx, probe, []byte("overwritten")); {
	case err == nil:
		return fault.New(fault.Unavailable, "The store of %s overwrites objects that it was told not to (If-None-Match: *). Commits could be lost there: use a store that honours conditional writes.", base)
	case !fault.Is(err, fault.AlreadyExists):
		return err
	}
	found, err := store.ReadFile(ctx, probe)
	if err != nil {
		return err
	}
	if !bytes.Equal(found, content) {
		return fault.New(fault.Unavailable, "The store of %s gave back other content than was written.", base)
	}
	info, err := store.Stat(ctx, probe)
	if err != nil {
		return err
	}
	if info.Size != int64(len(content)) {
		return fault.New(fault.Unavailable, "The store of %s gave %d bytes as the size of an object of %d.", base, info.Size, len(content))
	}
	before, err := store.List(ctx, base.String(), probe[:len(probe)-1], 1)
	if err != nil {
		return err
	}
	if len(before) != 1 || before[0].Location != probe {
		return fault.New(fault.Unavailable, "The store of %s does not list an object right after it was written.", base)
	}
	return nil
}

// checkDeleted deletes the probe, twice.
func checkDeleted(ctx context.Context, store Store, probe string) error {
	for range 2 {
		if err := store.DeleteFile(ctx, probe); err != nil {
			return err
		}
	}
	if _, err := store.Stat(ctx, probe); !fault.Is(err, fault.NotFound) {
		return fault.Wrap(err, fault.Unavailable, "The store still has an object after it was deleted.")
	}
	return nil
}
