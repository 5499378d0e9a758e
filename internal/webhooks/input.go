package webhooks

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	longestName = 100 // characters
	mostTypes   = 50
)

// Input is what a webhook is to be; nil leaves a thing as it is.
type Input struct {
	Name         *string
	URL          *string
	Types        *[]string // of events, or groups such as "finding.*"; empty: all
	Catalog      *string   // "" for events of all catalogs and of none
	Disabled     *bool
	RotateSecret bool
}

// apply checks the input and puts it into w.
func (s *Service) apply(ctx context.Context, w *models.Webhook, in Input) error {
	if in.Name != nil {
		w.Name = *in.Name
	}
	if err := checkName(w.Name); err != nil {
		return err
	}
	if in.URL != nil || w.URL == "" {
		if in.URL != nil {
			w.URL = *in.URL
		}
		if err := checkURL(w.URL, s.Private); err != nil {
			return err
		}
	}
	if in.Types != nil {
		w.Types.V = slices.Clone(*in.Types)
		if err := checkTypes(w.Types.V); err != nil {
			return err
		}
	}
	if w.Types.V == nil {
		w.Types.V = []string{}
	}
	if in.Disabled != nil {
		w.Disabled = *in.Disabled
	}
	if in.Catalog == nil || *in.Catalog == w.Catalog {
		return nil
	}
	if w.Catalog = *in.Catalog; w.Catalog == "" {
		return nil
	}
	_, err := s.Catalogs.CatalogByName(ctx, w.Catalog)
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, "Field \"catalog\" names %q, and there is no such catalog.", w.Catalog)
	}
	return err
}

func checkName(name string) error {
	if name == "" || len([]rune(name)) > longestName || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fault.New(fault.Invalid, "Field \"name\" must be a name of 1 to %d printable characters.", longestName)
	}
	return nil
}

// checkTypes refuses what no event has: a typing mistake would be a webhook that gets nothing.
func checkTypes(patterns []string) error {
	if len(patterns) > mostTypes {
		return fault.New(fault.Invalid, "Field \"types\" must have at most %d entries. Leave it empty for all events.", mostTypes)
	}
	for _, p := range patterns {
		if !models.KnownPattern(p) {
			return fault.New(fault.Invalid, "Field \"types\" has %q, which is no event and no group of events such as finding.*; docs/audit.md lists them.", p)
		}
	}
	return nil
}

func same(a, b models.Webhook) bool {
	return a.Name == b.Name && a.URL == b.URL && a.Catalog == b.Catalog && a.Disabled == b.Disabled && slices.Equal(a.Types.V, b.Types.V)
}

// associated is what a secret is sealed with, so that it opens for its webhook alone.
func associated(id string) []byte { return []byte("webhook/" + id) }

// giveSecret gives the webhook a new secret.
func (s *Service) giveSecret(w *models.Webhook) (shown string, err error) {
	secret, shown := newSecret()
	w.Secret, err = s.Sealer.Seal(secret, associated(w.ID))
	return shown, err
}
