package catalog

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

const (
	// stagedFor is how long the location of a staged table is kept for it.
	stagedFor = 24 * time.Hour
	// mostStaged bounds the staged tables of one name that one principal gets keys for at a time: the newest.
	mostStaged = 4
)

// stage remembers a table that an engine is about to write and then to create.
func (s *Service) stage(ctx context.Context, caller policy.Caller, row models.Table, doc *metadata.Document) error {
	location, err := s.locations.Normalize(row.Location)
	if err != nil {
		return err
	}
	now := s.now()
	err = s.store.StageCreate(ctx, models.StagedCreate{
		ID: uuid.NewString(), CatalogID: row.CatalogID, NamespaceID: row.NamespaceID, Name: row.Name,
		TableUUID: doc.UUID(), Location: location, Principal: caller.PrincipalID, CreatedAt: now, ExpiresAt: now.Add(stagedFor),
	})
	if fault.Is(err, fault.Conflict) { // taken since it was looked at
		return fault.Wrap(err, fault.Forbidden, "The location %s overlaps that of another table. Choose another, or leave it out for a folder of its own.", row.Location)
	}
	return err
}

// usesOfStaged gives the uses of what the caller has staged under a name, the newest first; absent when that is nothing.
func (s *Service) usesOfStaged(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, absent error) ([]StorageUse, error) {
	at, err := s.place(ctx, caller, cat, ident.Namespace)
	if err != nil {
		return nil, absent
	}
	list, err := s.store.StagedCreates(ctx, at.ns.ID, ident.Name, caller.PrincipalID)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, absent
	}
	return s.usesStaged(ctx, caller, at, list[:min(len(list), mostStaged)])
}

// usesStaged gives the uses of what the caller has staged under one name.
func (s *Service) usesStaged(ctx context.Context, caller policy.Caller, at tablePlace, list []models.StagedCreate) ([]StorageUse, error) {
	if err := caller.Require(policy.UpdateTableForStagedCreate, policy.Parent, at.path, "namespace "+at.ns.Key.String()); err != nil {
		return nil, err
	}
	row, err := s.newRow(ctx, at, list[0].Name)
	if err != nil {
		return nil, err
	}
	uses := make([]StorageUse, len(list))
	for i, staged := range list {
		row.Location = staged.Location
		if uses[i], err = s.useStaged(ctx, StorageUse{Caller: caller, Catalog: at.cat}, at, row); err != nil {
			return nil, err
		}
		if !uses[i].Access.Rights.Any() {
			return nil, fault.New(fault.Forbidden, "Principal %s lacks the privilege %s on namespace %s, or its default write policy %s keeps engines from writing tables there.",
				caller.Principal, models.TableWriteData, at.ns.Key, row.WritePolicy)
		}
	}
	return uses, nil
}

// useStaged ends a use of a staged table: its rights are those that the table would have, and are on its namespace.
func (s *Service) useStaged(ctx context.Context, use StorageUse, at tablePlace, row models.Table) (StorageUse, error) {
	use.Location = row.Location
	row.ID = "" // no grant is on it
	var err error
	use.Access, err = s.access(ctx, use.Caller, at, row, func() (map[string]string, error) { return nil, nil })
	if !use.Access.Rights.Any() {
		use.Choice.Mode = NoDelegation
	}
	return use, err
}
