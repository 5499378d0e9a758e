package api_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// adminCases stands in for the use cases of the management API: it keeps what it was asked last.
type adminCases struct {
	calls []string // as name(arguments)
	fail  error

	catalogs   []models.Catalog
	principals []models.Principal
	roles      []models.PrincipalRole
	inCatalog  []models.CatalogRole
	grants     []management.GrantInput

	newCatalog    management.NewCatalog
	catalogChange management.CatalogChange
	newPrincipal  management.NewPrincipal
	change        management.PrincipalChange
	newRole       management.NewRole
	roleChange    management.RoleChange
	wanted        management.Credentials
	grant         management.GrantInput
	cascade       bool
	question      management.Question
	explanation   management.Explanation
}

func (a *adminCases) called(name string, args ...string) error {
	a.calls = append(a.calls, name+"("+strings.Join(args, ",")+")")
	return a.fail
}

// first gives the first of the rows, or a zero one.
func first[T any](rows []T) T {
	var zero T
	if len(rows) == 0 {
		return zero
	}
	return rows[0]
}

func (a *adminCases) ListCatalogs(context.Context, policy.Caller) ([]models.Catalog, error) {
	return a.catalogs, a.called("ListCatalogs")
}

func (a *adminCases) CreateCatalog(_ context.Context, _ policy.Caller, in management.NewCatalog) (models.Catalog, error) {
	a.newCatalog = in
	return first(a.catalogs), a.called("CreateCatalog", in.Name)
}

func (a *adminCases) GetCatalog(_ context.Context, _ policy.Caller, name string) (models.Catalog, error) {
	return first(a.catalogs), a.called("GetCatalog", name)
}

func (a *adminCases) UpdateCatalog(_ context.Context, _ policy.Caller, name string, in management.CatalogChange) (models.Catalog, error) {
	a.catalogChange = in
	return first(a.catalogs), a.called("UpdateCatalog", name)
}

func (a *adminCases) DeleteCatalog(_ context.Context, _ policy.Caller, name string) error {
	return a.called("DeleteCatalog", name)
}

func (a *adminCases) ListPrincipals(context.Context, policy.Caller) ([]models.Principal, error) {
	return a.principals, a.called("ListPrincipals")
}

func (a *adminCases) CreatePrincipal(_ context.Context, _ policy.Caller, in management.NewPrincipal) (models.Principal, management.Credentials, error) {
	a.newPrincipal = in
	return first(a.principals), management.Credentials{ClientID: "id", ClientSecret: "shown once"}, a.called("CreatePrincipal", in.Name)
}

func (a *adminCases) GetPrincipal(_ context.Context, _ policy.Caller, name string) (models.Principal, error) {
	return first(a.principals), a.called("GetPrincipal", name)
}

func (a *adminCases) UpdatePrincipal(_ context.Context, _ policy.Caller, name string, in management.PrincipalChange) (models.Principal, error) {
	a.change = in
	return first(a.principals), a.called("UpdatePrincipal", name)
}

func (a *adminCases) DeletePrincipal(_ context.Context, _ policy.Caller, name string) error {
	return a.called("DeletePrincipal", name)
}

func (a *adminCases) RotateCredentials(_ context.Context, _ policy.Caller, name string) (models.Principal, management.Credentials, error) {
	return first(a.principals), management.Credentials{ClientID: "id", ClientSecret: "rotated"}, a.called("RotateCredentials", name)
}

func (a *adminCases) ResetCredentials(_ context.Context, _ policy.Caller, name string, in management.Credentials) (models.Principal, management.Credentials, error) {
	a.wanted = in
	return first(a.principals), management.Credentials{ClientID: "id", ClientSecret: "reset"}, a.called("ResetCredentials", name)
}

func (a *adminCases) PrincipalRolesOf(_ context.Context, _ policy.Caller, principal string) ([]models.PrincipalRole, error) {
	return a.roles, a.called("PrincipalRolesOf", principal)
}

func (a *adminCases) AssignPrincipalRole(_ context.Context, _ policy.Caller, principal, role string) error {
	return a.called("AssignPrincipalRole", principal, role)
}

func (a *adminCases) RevokePrincipalRole(_ context.Context, _ policy.Caller, principal, role string) error {
	return a.called("RevokePrincipalRole", principal, role)
}

func (a *adminCases) ListPrincipalRoles(context.Context, policy.Caller) ([]models.PrincipalRole, error) {
	return a.roles, a.called("ListPrincipalRoles")
}

func (a *adminCases) CreatePrincipalRole(_ context.Context, _ policy.Caller, in management.NewRole) (models.PrincipalRole, error) {
	a.newRole = in
	return first(a.roles), a.called("CreatePrincipalRole", in.Name)
}

func (a *adminCases) GetPrincipalRole(_ context.Context, _ policy.Caller, name string) (models.PrincipalRole, error) {
	return first(a.roles), a.called("GetPrincipalRole", name)
}

func (a *adminCases) UpdatePrincipalRole(_ context.Context, _ policy.Caller, name string, in management.RoleChange) (models.PrincipalRole, error) {
	a.roleChange = in
	return first(a.roles), a.called("UpdatePrincipalRole", name)
}

func (a *adminCases) DeletePrincipalRole(_ context.Context, _ policy.Caller, name string) error {
	return a.called("DeletePrincipalRole", name)
}

func (a *adminCases) PrincipalsOf(_ context.Context, _ policy.Caller, role string) ([]models.Principal, error) {
	return a.principals, a.called("PrincipalsOf", role)
}

func (a *adminCases) CatalogRolesOf(_ context.Context, _ policy.Caller, principalRole, catalog string) ([]models.CatalogRole, error) {
	return a.inCatalog, a.called("CatalogRolesOf", principalRole, catalog)
}

func (a *adminCases) AssignCatalogRole(_ context.Context, _ policy.Caller, principalRole, catalog, catalogRole string) error {
	return a.called("AssignCatalogRole", principalRole, catalog, catalogRole)
}

func (a *adminCases) RevokeCatalogRole(_ context.Context, _ policy.Caller, principalRole, catalog, catalogRole string) error {
	return a.called("RevokeCatalogRole", principalRole, catalog, catalogRole)
}

func (a *adminCases) ListCatalogRoles(_ context.Context, _ policy.Caller, catalog string) ([]models.CatalogRole, error) {
	return a.inCatalog, a.called("ListCatalogRoles", catalog)
}

func (a *adminCases) CreateCatalogRole(_ context.Context, _ policy.Caller, catalog string, in management.NewRole) (models.CatalogRole, error) {
	a.newRole = in
	return first(a.inCatalog), a.called("CreateCatalogRole", catalog, in.Name)
}

func (a *adminCases) GetCatalogRole(_ context.Context, _ policy.Caller, catalog, name string) (models.CatalogRole, error) {
	return first(a.inCatalog), a.called("GetCatalogRole", catalog, name)
}

func (a *adminCases) UpdateCatalogRole(_ context.Context, _ policy.Caller, catalog, name string, in management.RoleChange) (models.CatalogRole, error) {
	a.roleChange = in
	return first(a.inCatalog), a.called("UpdateCatalogRole", catalog, name)
}

func (a *adminCases) DeleteCatalogRole(_ context.Context, _ policy.Caller, catalog, name string) error {
	return a.called("DeleteCatalogRole", catalog, name)
}

func (a *adminCases) PrincipalRolesWith(_ context.Context, _ policy.Caller, catalog, catalogRole string) ([]models.PrincipalRole, error) {
	return a.roles, a.called("PrincipalRolesWith", catalog, catalogRole)
}

func (a *adminCases) ListGrants(_ context.Context, _ policy.Caller, catalog, role string) ([]management.GrantInput, error) {
	return a.grants, a.called("ListGrants", catalog, role)
}

func (a *adminCases) AddGrant(_ context.Context, _ policy.Caller, catalog, role string, in management.GrantInput) error {
	a.grant = in
	return a.called("AddGrant", catalog, role)
}

func (a *adminCases) RevokeGrant(_ context.Context, _ policy.Caller, catalog, role string, in management.GrantInput, cascade bool) error {
	a.grant, a.cascade = in, cascade
	return a.called("RevokeGrant", catalog, role)
}

func (a *adminCases) Explain(_ context.Context, _ policy.Caller, q management.Question) (management.Explanation, error) {
	a.question = q
	return a.explanation, a.called("Explain")
}

// denials keeps refusals that were recorded.
type denials struct {
	fail    error
	callers []policy.Caller
	kept    []access.Denial
	failed  []access.Failure
}

func (d *denials) RecordFailure(ctx context.Context, caller policy.Caller, failure access.Failure) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("the client's context is over: %w", err)
	}
	d.callers, d.failed = append(d.callers, caller), append(d.failed, failure)
	return d.fail
}

func (d *denials) RecordDenial(ctx context.Context, caller policy.Caller, denial access.Denial) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("the client's context is over: %w", err)
	}
	d.callers, d.kept = append(d.callers, caller), append(d.kept, denial)
	return d.fail
}
