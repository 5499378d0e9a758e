package main

import (
	"context"
	"crypto/subtle"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// bootstrapTokenName is what root's token for scripts is listed under.
const bootstrapTokenName = "bootstrap.json"

// createRoot makes the root principal and the first catalog. keep gets the credentials before they take effect, so
// that no crash can leave a root whom nobody knows. It is fault.AlreadyExists when there is a root.
func (b *base) createRoot(ctx context.Context, warehouses []string, keep func(rootCredentials) error) (rootCredentials, error) {
	fresh, creds := access.NewBootstrap(b.cfg.Catalog, warehouses, models.GovernedOnly, time.Now())
	root := rootCredentials{ClientID: creds.ClientID, ClientSecret: creds.ClientSecret}
	if err := keep(root); err != nil {
		return root, err
	}
	return root, b.store.Bootstrap(ctx, fresh)
}

// mintRootToken makes a token of root that opens every catalog and does not expire.
func (b *base) mintRootToken(ctx context.Context) (string, error) {
	root, err := b.store.PrincipalByName(ctx, models.RootPrincipal)
	if err != nil {
		return "", err
	}
	caller := policy.Caller{PrincipalID: root.ID, Principal: root.Name, CanGovern: true}
	_, secret, err := b.newTokens().MintToken(ctx, caller, access.MintInput{Name: bootstrapTokenName, CanWrite: true, CanGovern: true})
	return secret, err
}

// rootState is what serve knows of root.
type rootState struct {
	rootCredentials
	created bool
	lost    bool // the secret is in no file any more, or not root's any more
}

// ensureRoot gives root's credentials: new ones in an empty database, else those that the folder kept.
func (b *base) ensureRoot(ctx context.Context, folder *dataFolder, warehouses []string) (rootState, error) {
	kept, known, err := folder.credentials()
	if err != nil {
		return rootState{}, err
	}
	state := rootState{rootCredentials: kept}
	row, err := b.store.PrincipalByName(ctx, models.RootPrincipal)
	switch {
	case fault.Is(err, fault.NotFound):
		state.created = true
		if state.rootCredentials, err = b.createRoot(ctx, warehouses, folder.saveCredentials); err != nil {
			return state, err
		}
	case err != nil:
		return state, err
	case !known || kept.ClientID != row.ClientID || !sameHash(kept.ClientSecret, row.SecretHash):
		state.lost = true
		state.rootCredentials = rootCredentials{ClientID: row.ClientID, Token: kept.Token}
	}
	return state, b.ensureRootToken(ctx, folder, &state)
}

// ensureRootToken replaces a token that is missing, revoked or of another database.
func (b *base) ensureRootToken(ctx context.Context, folder *dataFolder, state *rootState) error {
	if state.Token != "" {
		bearer, err := b.store.Bearer(ctx, access.HashSecret(state.Token))
		if err == nil && bearer.Token.Live(time.Now()) {
			return nil
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	var err error
	if state.Token, err = b.mintRootToken(ctx); err != nil {
		return err
	}
	return folder.saveCredentials(state.rootCredentials)
}

func sameHash(secret, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(access.HashSecret(secret)), []byte(hash)) == 1
}

// resetRoot gives root another client secret and token, and revokes the bootstrap tokens there were. keep gets the
// credentials before they take effect.
func (b *base) resetRoot(ctx context.Context, keep func(rootCredentials) error) (rootCredentials, error) {
	row, err := b.store.PrincipalByName(ctx, models.RootPrincipal)
	if fault.Is(err, fault.NotFound) {
		return rootCredentials{}, fault.New(fault.NotFound, "there is no root principal yet: start `sluice serve` or run `sluice root create`")
	}
	if err != nil {
		return rootCredentials{}, err
	}
	root := rootCredentials{ClientID: row.ClientID, ClientSecret: access.NewClientSecret()}
	if err := keep(root); err != nil {
		return root, err
	}
	event := models.AuditEvent{
		EventID: uuid.NewString(), Type: models.AuditPrincipalSecretReset, At: time.Now(), Principal: row.Name, Allowed: true,
		Details: models.JSON[map[string]any]{V: map[string]any{"principal": row.Name, "by": "sluice root reset-credentials"}},
	}
	if err := b.store.ReplaceSecret(ctx, row.ID, access.HashSecret(root.ClientSecret), event); err != nil {
		return root, err
	}
	if err := b.revokeBootstrapTokens(ctx, row); err != nil {
		return root, err
	}
	if root.Token, err = b.mintRootToken(ctx); err != nil {
		return root, err
	}
	return root, keep(root)
}

func (b *base) revokeBootstrapTokens(ctx context.Context, root models.Principal) error {
	const pageSize = 500
	caller := policy.Caller{PrincipalID: root.ID, Principal: root.Name, CanGovern: true}
	for after := ""; ; {
		page, err := b.store.ListTokens(ctx, after, pageSize)
		if err != nil {
			return err
		}
		for _, token := range page {
			after = token.ID
			if token.PrincipalID == root.ID && token.Name == bootstrapTokenName && token.RevokedAt == nil {
				if err := b.newTokens().RevokeToken(ctx, caller, token.ID); err != nil {
					return err
				}
			}
		}
		if len(page) < pageSize {
			return nil
		}
	}
}
