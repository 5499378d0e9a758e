package management

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// RotateCredentials gives the caller itself another client secret. The one before stays good for the overlap, so that
// what runs under it can be given the new one; first credentials, which are good for nothing but this, do not, and the
// access tokens that they got end.
func (s *Service) RotateCredentials(ctx context.Context, caller policy.Caller, name string) (models.Principal, Credentials, error) {
	p, err := s.rotating(ctx, caller, name)
	if err != nil {
		return models.Principal{}, Credentials{}, err
	}
	creds := Credentials{ClientID: p.ClientID, ClientSecret: s.secrets.NewClientSecret()}
	next := p
	next.SecretHash, next.RotationRequired = s.secrets.Hash(creds.ClientSecret), false
	next.PreviousSecretHash, next.PreviousSecretUntil = "", nil
	details := map[string]any{"principal": p.Name, "clientId": p.ClientID}
	store := s.store.UpdatePrincipal
	switch {
	case p.RotationRequired:
		store = s.store.ResetSecret
		details["first"] = true
	case s.overlap > 0:
		until := s.now().Add(s.overlap)
		next.PreviousSecretHash, next.PreviousSecretUntil = p.SecretHash, &until
		details["previousUntil"] = until.UTC().Format(time.RFC3339)
	}
	if err := store(ctx, next, s.event(caller, models.AuditPrincipalSecretRotated, "", details)); err != nil {
		return models.Principal{}, Credentials{}, err
	}
	stored, err := s.store.PrincipalByID(ctx, p.ID)
	return stored, creds, err
}

// rotating finds the principal whose credentials the caller may rotate: itself, by a token that opens all that they do.
// Whoever has a narrower one would have everything by the new secret.
func (s *Service) rotating(ctx context.Context, caller policy.Caller, name string) (models.Principal, error) {
	switch {
	case caller.EngineToken:
		return models.Principal{}, fault.New(fault.Forbidden, "This token was minted for a job and may not rotate credentials. Use the principal's client id and secret, or ask an administrator to reset them (sluice principals reset %s).", caller.Principal)
	case caller.Roles != nil:
		return models.Principal{}, fault.New(fault.Forbidden, "This token acts with some of the principal's roles alone and may not rotate credentials. Use one with the scope PRINCIPAL_ROLE:ALL.")
	}
	if err := mayGovern(caller, "rotate credentials"); err != nil {
		return models.Principal{}, err
	}
	p, err := s.principalNamed(ctx, caller, name)
	if err != nil {
		return models.Principal{}, err
	}
	if !isSelf(caller, p) {
		return models.Principal{}, fault.New(fault.Forbidden, "Credentials are rotated by the principal itself, and you are %s. Reset those of %s instead, which takes %s on %s.",
			caller.Principal, p.Name, models.ServiceManageAccess, theService)
	}
	if p.ClientID == "" {
		return models.Principal{}, fault.New(fault.Invalid, "Principal %s has no credentials here: its identity provider keeps them. Rotate them there.", p.Name)
	}
	return p, nil
}

// ResetCredentials gives a principal another client secret, and another client id where one is given. What was good
// before is good for nothing at once, its access tokens included. An empty secret is made up.
func (s *Service) ResetCredentials(ctx context.Context, caller policy.Caller, name string, in Credentials) (models.Principal, Credentials, error) {
	p, err := s.changedPrincipal(ctx, caller, policy.ResetCredentials, name, "reset credentials")
	if err != nil {
		return models.Principal{}, Credentials{}, err
	}
	if err := checkCredentials(in); err != nil {
		return models.Principal{}, Credentials{}, err
	}
	creds := s.completed(in, p.ClientID)
	next := p
	next.ClientID, next.SecretHash = creds.ClientID, s.secrets.Hash(creds.ClientSecret)
	next.PreviousSecretHash, next.PreviousSecretUntil = "", nil
	details := map[string]any{"principal": p.Name, "clientId": creds.ClientID, "chosen": in.ClientSecret != ""}
	if err := s.store.ResetSecret(ctx, next, s.event(caller, models.AuditPrincipalSecretReset, "", details)); err != nil {
		return models.Principal{}, Credentials{}, err
	}
	stored, err := s.store.PrincipalByID(ctx, p.ID)
	return stored, creds, err
}

// completed makes up what was not given; a client id that there is stays, so that jobs need only another secret.
func (s *Service) completed(in Credentials, clientID string) Credentials {
	if in.ClientID == "" {
		in.ClientID = clientID
	}
	if in.ClientID == "" {
		in.ClientID = s.secrets.NewClientID()
	}
	if in.ClientSecret == "" {
		in.ClientSecret = s.secrets.NewClientSecret()
	}
	return in
}
