package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func (c *cli) signingKeysCommand() *cobra.Command {
	return group("signing-keys", "List and rotate the keys that access tokens are signed with", c.signingKeysListCommand(), c.signingKeysRotateCommand())
}

const signingKeysWhere = "It works on the database at SLUICE_DATABASE_URL with SLUICE_ENCRYPTION_KEYS, else on the data folder, whether its\nserve runs or not."

func (c *cli) signingKeysListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the keys, newest first",
		Long:  "Lists the keys that access tokens are signed with, newest first. " + signingKeysWhere,
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withTokenKeys(cmd.Context(), func(keys *access.TokenKeys) error {
				list, err := keys.List(cmd.Context())
				if err != nil {
					return err
				}
				answers := make([]signingKeyAnswer, len(list))
				for i, key := range list {
					answers[i] = signingKeyAnswerOf(key)
				}
				return c.show(answers, columns{
					{"ID", "id"}, {"CREATED", "createdAt"}, {"SIGNS UNTIL", "retiresAt"}, {"ACCEPTED UNTIL", "acceptedUntil"}, {"SIGNS", "signs"},
				})
			})
		},
	}
	c.bind(cmd, false, "database-url", "database-max-conns", "access-token-lifetime")
	c.outputFlag(cmd)
	return cmd
}

func (c *cli) signingKeysRotateCommand() *cobra.Command {
	var revokeOld bool
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Sign access tokens with a new key from now on",
		Long: "Makes a key that signs access tokens from now on. Tokens of the older ones stay good until they expire, unless\n" +
			"--revoke-old removes those keys: then every access token there is ends at once. " + signingKeysWhere,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withTokenKeys(cmd.Context(), func(keys *access.TokenKeys) error {
				key, err := keys.Rotate(cmd.Context(), policy.Caller{Principal: models.RootPrincipal}, revokeOld)
				if err != nil {
					return err
				}
				object, err := json.Marshal(signingKeyAnswerOf(key))
				if err != nil {
					return err
				}
				return c.showObject(object, "id", "createdAt", "retiresAt", "acceptedUntil")
			})
		},
	}
	cmd.Flags().BoolVar(&revokeOld, "revoke-old", false, "end every access token that was signed before, at once")
	c.bind(cmd, false, "database-url", "database-max-conns", "access-token-lifetime", "signing-key-lifetime")
	c.outputFlag(cmd)
	return cmd
}

type signingKeyAnswer struct {
	ID            string    `json:"id"`
	Algorithm     string    `json:"algorithm"`
	CreatedAt     time.Time `json:"createdAt"`
	RetiresAt     time.Time `json:"retiresAt"`
	AcceptedUntil time.Time `json:"acceptedUntil"`
	Signs         bool      `json:"signs"`
}

func signingKeyAnswerOf(k access.KeyView) signingKeyAnswer {
	return signingKeyAnswer{
		ID: k.ID, Algorithm: k.Algorithm, CreatedAt: k.CreatedAt, RetiresAt: k.RetiresAt, AcceptedUntil: k.ForgottenAt, Signs: k.Signs,
	}
}

// withTokenKeys opens the database and the encryption keys, of the data folder where none are configured.
func (c *cli) withTokenKeys(ctx context.Context, use func(*access.TokenKeys) error) error {
	url := c.cfg.Database.URL.Reveal()
	var r *keyring.Ring
	var err error
	if url == "" {
		folder, err := existingFolder(c.cfg.DataDir)
		if err != nil {
			return err
		}
		url = folder.databaseURL()
		if r, err = folderRing(c.cfg, folder); err != nil {
			return err
		}
	} else if r, err = requiredRing(c.cfg); err != nil {
		return err
	}
	st, err := c.openStore(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	return use((&base{cfg: c.cfg, store: st, log: c.logger()}).newTokenKeys(r))
}
