package main

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/keyring"
)

// auditPurpose is what the keys are sealed for that sign checkpoints of the audit.
const auditPurpose = "audit-checkpoints"

func (c *cli) auditVerifyCommand() *cobra.Command {
	var file string
	var keys []string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify that nobody changed the audit",
		Long: "Reads every event of the audit and verifies the chain of hashes, the signed checkpoints and that nothing waits to be\n" +
			"sealed. It names the first row that is wrong, and ends with 1 when something is. It works on the database at\n" +
			"SLUICE_DATABASE_URL, with SLUICE_ENCRYPTION_KEYS if they are set, else on the data folder, whether its serve runs or not.",
		Example: "  sluice audit verify\n  sluice audit verify --from-checkpoint-file checkpoints.jsonl --public-key 3uK1…=",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := audit.VerifyOptions{}
			if err := readCheckpointOptions(&o, file, keys); err != nil {
				return usageError{err}
			}
			return c.withAudit(cmd.Context(), func(chain audit.Chain, vault audit.Vault) error {
				o.Vault = vault
				report, err := audit.NewVerifier(chain, time.Now).Verify(cmd.Context(), o)
				if err != nil {
					return err
				}
				return c.showVerified(report)
			})
		},
	}
	cmd.Flags().StringVar(&file, "from-checkpoint-file", "", "checkpoints that were kept outside, as audit checkpoints --lines writes them")
	cmd.Flags().StringArrayVar(&keys, "public-key", nil, "the key whose signatures are believed, in base64; may be given again")
	c.bind(cmd, false, "database-url", "database-max-conns", "encryption-keys")
	c.outputFlag(cmd)
	return cmd
}

func readCheckpointOptions(o *audit.VerifyOptions, file string, keys []string) error {
	for _, text := range keys {
		public, err := audit.DecodeKey(text)
		if err != nil {
			return err
		}
		o.Public = append(o.Public, ed25519.PublicKey(public))
	}
	if file == "" {
		return nil
	}
	f, err := os.Open(file) //nolint:gosec // the file that the user names
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "the file of checkpoints %s cannot be opened", file)
	}
	defer func() { _ = f.Close() }()
	o.Outside, err = audit.ReadCheckpoints(f)
	return err
}

// showVerified prints the report, and is an error when something is wrong.
func (c *cli) showVerified(report audit.Report) error {
	err := c.showReport(report)
	if err == nil && !report.Good {
		err = errors.New("the audit is not what was sealed: see above for the first row that is wrong")
	}
	return err
}

func (c *cli) showReport(report audit.Report) error {
	if c.format == formatJSON {
		return c.showJSON(report)
	}
	plain := struct {
		audit.Report
		Problems *int `json:"problems,omitempty"` // a table of its own
	}{Report: report}
	object, err := json.Marshal(plain)
	if err != nil {
		return err
	}
	err = c.showObject(object, "good", "events", "firstSeq", "lastSeq", "hash", "prunedSeq", "checkpoints", "signedSeq", "unsealed", "notes")
	if err != nil || len(report.Problems) == 0 {
		return err
	}
	return c.show(report.Problems, columns{{"WRONG", "kind"}, {"SEQ", "seq"}, {"ROW", "id"}, {"EVENT", "eventId"}, {"DETAIL", "detail"}})
}

// withAudit opens the audit for reading, and the encryption keys where there are any.
func (c *cli) withAudit(ctx context.Context, use func(audit.Chain, audit.Vault) error) error {
	url := c.cfg.Database.URL.Reveal()
	r, err := ring(c.cfg)
	if err != nil {
		return err
	}
	if url == "" {
		folder, err := existingFolder(c.cfg.DataDir)
		if err != nil {
			return err
		}
		url = folder.databaseURL()
		if r, err = folderRingThere(c.cfg, folder); err != nil {
			return err
		}
	}
	st, err := c.openStore(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	return use(st, auditVault(r))
}

// folderRingThere is folderRing for who must not make keys: nil where there are none.
func folderRingThere(cfg *config.Config, folder *dataFolder) (*keyring.Ring, error) {
	if _, err := os.Stat(folder.file(encryptionName)); errors.Is(err, fs.ErrNotExist) {
		return ring(cfg)
	}
	return folderRing(cfg, folder)
}

// auditVault encrypts the keys that sign checkpoints; nil without encryption keys.
func auditVault(r *keyring.Ring) audit.Vault {
	if r == nil {
		return nil
	}
	return r.For(auditPurpose)
}
