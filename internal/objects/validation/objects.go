package validation

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

// first is the object that most steps are tried with.
const first = "inside/object"

func (t *trial) put(ctx context.Context) (string, error) {
	store, err := t.v.Files.At(ctx, t.at(first))
	if err != nil {
		return "", err
	}
	if err := t.create(ctx, store, t.at(first)); err != nil {
		return "", err
	}
	t.store = store
	return "An object could be written.", nil
}

func (t *trial) create(ctx context.Context, store objects.Store, location string) error {
	t.made = append(t.made, location)
	return store.CreateFile(ctx, location, t.content)
}

func (t *trial) conditionalPut(ctx context.Context) (string, error) {
	err := t.store.CreateFile(ctx, t.at(first), []byte("overwritten"))
	switch {
	case fault.Is(err, fault.AlreadyExists):
		return "An object is not written over where that was forbidden (If-None-Match: *).", nil
	case err == nil:
		return "", fault.New(fault.Unavailable, "The store writes over objects that it was told not to (If-None-Match: *). Commits could be lost there: use a store that honours conditional writes.")
	}
	return "", err
}

func (t *trial) get(ctx context.Context) (string, error) {
	found, err := t.store.ReadFile(ctx, t.at(first))
	if err == nil && !bytes.Equal(found, t.content) {
		err = fault.New(fault.Unavailable, "The store gave back other content than was written.")
	}
	return "An object could be read.", err
}

func (t *trial) rangedGet(ctx context.Context) (string, error) {
	file, err := t.store.OpenFile(ctx, t.at(first))
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was read only
	part := make([]byte, 6)
	if _, err := file.ReadAt(part, 5); err != nil {
		return "", err
	}
	if !bytes.Equal(part, t.content[5:11]) {
		return "", fault.New(fault.Unavailable, "The store gave another part of an object than was asked for. It must support ranged reads.")
	}
	return "A part of an object could be read.", nil
}

func (t *trial) list(ctx context.Context) (string, error) {
	found, err := t.store.List(ctx, t.folder.String(), "", 10)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(found, func(i objects.Info) bool { return i.Location == t.at(first) && i.Size == int64(len(t.content)) }) {
		return "", fault.New(fault.Unavailable, "The store does not list an object right after it was written.")
	}
	return "An object is listed right after it was written.", nil
}

// delete deletes twice: a missing object must be no error, as deletions are repeated.
func (t *trial) delete(ctx context.Context) (string, error) {
	for range 2 {
		if err := t.store.DeleteFile(ctx, t.at(first)); err != nil {
			return "", err
		}
	}
	_, err := t.store.Stat(ctx, t.at(first))
	switch {
	case err == nil:
		return "", fault.New(fault.Unavailable, "The store still has an object after it was deleted. Look for a retention rule or versions that are shown.")
	case !fault.Is(err, fault.NotFound):
		return "", err
	}
	return "An object could be deleted.", nil
}

func (t *trial) multipart(ctx context.Context) (string, error) {
	if !t.folder.IsS3() {
		return "", skip("Engines upload in parts to S3 stores alone.")
	}
	p, err := t.v.Profiles.Signing(ctx, t.cat)
	if err != nil {
		return "", err
	}
	// Not the store that Sluice reads by: that of an embedded warehouse is a folder.
	s3, err := objects.NewS3Store(storeOf(p, p.Secrets))
	if err != nil {
		return "", err
	}
	location := t.at("inside/parts")
	t.made = append(t.made, location)
	if err := s3.CheckMultipart(ctx, location); err != nil {
		return "", err
	}
	return "An object could be uploaded in parts, and an upload could be given up.", nil
}

// storeOf says how a profile's store is reached with keys.
func storeOf(p objects.Profile, keys models.StorageSecrets) objects.S3Config {
	return objects.S3Config{
		Endpoint: cmp.Or(p.Config.EndpointInternal, p.Config.Endpoint), Region: p.Config.Region, PathStyle: p.Config.PathStyleAccess,
		AccessKey: keys.AccessKey, SecretKey: keys.SecretKey, SessionToken: keys.SessionToken,
	}
}

// putAt tries another location of the catalog, in another bucket.
func (t *trial) putAt(ctx context.Context, loc objects.Location) (string, error) {
	probe, err := objects.Join(loc, ".sluice-validation-"+uuid.NewString())
	if err != nil {
		return "", err
	}
	store, err := t.v.Files.At(ctx, probe.String())
	if err != nil {
		return "", err
	}
	if err := t.create(ctx, store, probe.String()); err != nil {
		return "", err
	}
	if err := store.DeleteFile(ctx, probe.String()); err != nil {
		return "", err
	}
	return "An object could be written and deleted.", nil
}
