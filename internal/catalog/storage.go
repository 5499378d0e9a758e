package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// StorageKeys opens tables' files in the object store for engines.
type StorageKeys interface {
	// Credentials gives what opens the table's files, for no longer than the caller's token lives.
	Credentials(ctx context.Context, use StorageUse) ([]StorageCredential, error)
	// Sign signs one request to the store. Without a table in use, the request's URI alone says what it is for, and the
	// caller's rights have yet to be checked.
	Sign(ctx context.Context, use StorageUse, in SignInput) (SignedRequest, error)
}

// StorageUse says who wants to reach which table's files, and for what.
type StorageUse struct {
	Caller      policy.Caller
	Catalog     models.Catalog
	Table       *models.Table
	Read, Write bool
}

// StorageCredential opens the locations that start with Prefix.
type StorageCredential struct {
	Prefix string
	Config map[string]string
}

// SignInput is a request to the object store that is to be signed.
type SignInput struct {
	Provider   string
	Region     string
	Method     string
	URI        string
	Headers    map[string][]string
	Properties map[string]string
	Body       string // where it decides what the request does, as with S3's DeleteObjects
}

// SignedRequest is the request as it is to be sent.
type SignedRequest struct {
	URI     string
	Headers map[string][]string
}

// ReadTable gives a table's metadata to somebody who is to read its data by it.
func (s *Service) ReadTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (TableView, error) {
	at, row, err := s.find(ctx, caller, cat, ident)
	if err != nil {
		return TableView{}, err
	}
	if err := caller.Require(policy.PlanTableScan, policy.Object, at.tablePath(row.ID), "table "+ident.String()); err != nil {
		return TableView{}, err
	}
	return s.view(ctx, row)
}

// TableCredentials gives what opens a table's files: nothing where the catalog hands out no storage keys.
func (s *Service) TableCredentials(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) ([]StorageCredential, error) {
	use, err := s.storageUse(ctx, caller, cat, ident)
	if err != nil || s.keys == nil {
		return nil, err
	}
	return s.keys.Credentials(ctx, use)
}

// SignRequest signs a request for a table's files; with no table, for whatever its URI names.
func (s *Service) SignRequest(ctx context.Context, caller policy.Caller, cat models.Catalog, ident *models.TableIdent, in SignInput) (SignedRequest, error) {
	use := StorageUse{Caller: caller, Catalog: cat}
	if ident != nil {
		var err error
		if use, err = s.storageUse(ctx, caller, cat, *ident); err != nil {
			return SignedRequest{}, err
		}
	}
	if s.keys == nil {
		return SignedRequest{}, fault.New(fault.Unsupported, "Catalog %s does not sign requests to its object store. Let the engine reach the store with keys of its own.", cat.Name)
	}
	return s.keys.Sign(ctx, use, in)
}

// storageUse says what the caller may do with a table's files: whoever may neither read nor write data gets no keys.
func (s *Service) storageUse(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (StorageUse, error) {
	at, row, err := s.find(ctx, caller, cat, ident)
	if err != nil {
		return StorageUse{}, err
	}
	path := at.tablePath(row.ID)
	use := StorageUse{
		Caller: caller, Catalog: cat, Table: &row,
		Read:  caller.May(policy.LoadTableWithReadDelegation, path),
		Write: !caller.ReadOnly && caller.May(policy.LoadTableWithWriteDelegation, path),
	}
	if !use.Read && !use.Write {
		return use, fault.New(fault.Forbidden, "Principal %s lacks the privilege %s or %s on table %s.", caller.Principal,
			models.TableReadData, models.TableWriteData, ident)
	}
	return use, nil
}
