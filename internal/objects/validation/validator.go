package validation

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/objects/signing"
	"github.com/sluice-data/sluice/internal/objects/vending"
	"github.com/sluice-data/sluice/models"
)

const (
	// stepTime bounds one step.
	stepTime = 30 * time.Second
	// cleanTime bounds the removal of what was made.
	cleanTime = 20 * time.Second
)

// Profiles says how the store of a catalog is reached.
type Profiles interface {
	Vending(ctx context.Context, cat models.Catalog) (objects.Profile, error)
	Signing(ctx context.Context, cat models.Catalog) (objects.Profile, error)
}

// Files gives the store that a location is in.
type Files interface {
	At(ctx context.Context, location string) (objects.Store, error)
}

// Deps is what a Validator needs.
type Deps struct {
	Profiles Profiles
	Files    Files
	S3       *vending.S3
	Signer   *signing.Signer
	Now      func() time.Time
}

// Validator validates storage. It may be used concurrently.
type Validator struct {
	Deps
	http *http.Client
}

// New makes a Validator.
func New(d Deps) *Validator {
	return &Validator{Deps: d, http: &http.Client{
		Timeout:       stepTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Validate tries the storage of a catalog. The steps say what failed; an error is of what is no store's fault.
func (v *Validator) Validate(ctx context.Context, cat models.Catalog) ([]models.StorageStep, error) {
	base, err := objects.Parse(cat.BaseLocation)
	if err != nil {
		return nil, err
	}
	folder, err := objects.Join(base, ".sluice-validation-"+uuid.NewString())
	if err != nil {
		return nil, err
	}
	t := &trial{v: v, cat: cat, folder: folder, content: []byte("This object was made to validate the storage of a catalog and can be removed.\n")}
	defer t.clean(ctx)
	for _, s := range []struct {
		name string
		run  func(context.Context) (string, error)
	}{
		{"put", t.put}, {"conditional put", t.conditionalPut}, {"get", t.get}, {"ranged get", t.rangedGet}, {"list", t.list},
		{"multipart", t.multipart}, {"sts", t.sts}, {"signing", t.signing}, {"delete", t.delete},
	} {
		t.step(ctx, s.name, s.run)
	}
	for _, location := range cat.AllowedLocations.V {
		if loc, err := objects.Parse(location); err == nil && (loc.Scheme() != base.Scheme() || loc.Bucket() != base.Bucket()) {
			t.step(ctx, "put at "+loc.String(), func(ctx context.Context) (string, error) { return t.putAt(ctx, loc) })
		}
	}
	return t.steps, nil
}

// skip is an outcome: the step was not tried, for the reason that it is.
type skip string

// Error gives the reason.
func (s skip) Error() string { return string(s) }

// trial is one validation.
type trial struct {
	v       *Validator
	cat     models.Catalog
	folder  objects.Location
	content []byte
	store   objects.Store // of the base location; nil until something could be put there
	made    []string      // locations to remove
	steps   []models.StorageStep
}

// step runs a step and notes how it went. Without a first object there is nothing that later ones could be tried with.
func (t *trial) step(ctx context.Context, name string, run func(context.Context) (string, error)) {
	started := t.v.Now()
	var detail string
	var err error = skip("The object that this step is tried with could not be put.")
	if t.store != nil || len(t.steps) == 0 || strings.HasPrefix(name, "put at ") {
		bounded, cancel := context.WithTimeout(ctx, stepTime)
		detail, err = run(bounded)
		cancel()
	}
	out := models.StorageStep{Name: name, OK: true, Detail: detail, Took: t.v.Now().Sub(started)}
	if why, skipped := err.(skip); skipped { //nolint:errorlint // it is never wrapped
		out.Skipped, out.Detail = true, string(why)
	} else if err != nil {
		out.OK, out.Detail = false, sentence(err)
	}
	t.steps = append(t.steps, out)
}

// sentence says what went wrong, with the store's own word where it has one.
func sentence(err error) string {
	text := fault.PublicMessage(err)
	if code, _ := objects.Refused(err); code != "" && !strings.Contains(text, code) {
		text += " The store says " + code + "."
	}
	return text
}

// at gives the location of an object of the trial's own folder.
func (t *trial) at(name string) string { return t.folder.At(t.folder.Key() + "/" + name).String() }

// clean removes what was made, as far as the store lets it.
func (t *trial) clean(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	for _, location := range t.made {
		if store, err := t.v.Files.At(ctx, location); err == nil {
			_ = store.DeleteFile(ctx, location) // what stays is named so that anybody may remove it
		}
	}
}
