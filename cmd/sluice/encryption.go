package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/temporalx"
)

// encryptionName is the file in the data folder with serve's own encryption keys, of mode 0600.
const encryptionName = "encryption.key"

// signingPurpose is what signing keys are sealed for.
const signingPurpose = "signing-keys"

// ring gives the configured encryption keys, nil when there are none.
func ring(cfg *config.Config) (*keyring.Ring, error) {
	if cfg.EncryptionKeys == "" {
		return nil, nil //nolint:nilnil // no keys is no error: which commands need some is theirs to say
	}
	r, err := keyring.Parse(cfg.EncryptionKeys.Reveal())
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "encryption-keys is wrong: %s", fault.PublicMessage(err))
	}
	return r, nil
}

// requiredRing is ring for commands that cannot do without.
func requiredRing(cfg *config.Config) (*keyring.Ring, error) {
	r, err := ring(cfg)
	if err == nil && r == nil {
		err = usageError{fault.New(fault.Invalid, "no encryption keys are configured: set SLUICE_ENCRYPTION_KEYS, the same for every process; `sluice encryption-keys generate` makes one")}
	}
	return r, err
}

// folderRing gives the configured encryption keys of serve, else those of its folder, which it makes.
func folderRing(cfg *config.Config, folder *dataFolder) (*keyring.Ring, error) {
	if r, err := ring(cfg); r != nil || err != nil {
		return r, err
	}
	return keyring.ReadOrCreate(folder.file(encryptionName))
}

// withCodec makes a Temporal client encrypt what it sends, where that is configured, and read what others encrypted.
func withCodec(o temporalx.ClientOptions, t config.Temporal, r *keyring.Ring) temporalx.ClientOptions {
	if t.EncryptPayloads {
		o.DataConverter, o.FailureConverter = temporalx.EncryptedConverters(r)
	} else {
		o.DataConverter, o.FailureConverter = temporalx.DecryptingConverters(r)
	}
	return o
}

func (c *cli) encryptionKeysCommand() *cobra.Command {
	generate := &cobra.Command{
		Use:   "generate",
		Short: "Show a fresh encryption key",
		Long: "Shows a fresh key for SLUICE_ENCRYPTION_KEYS, in which keys are separated by commas: the first encrypts, all decrypt.\n" +
			"To rotate, put it last in every process and restart each, so that all can read it, and then first. One serve with its\n" +
			"own encryption.key can have it first at once.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			key := keyring.Generate()
			return c.done(map[string]any{"encryptionKeys": key}, "%s\n", key)
		},
	}
	c.outputFlag(generate)
	return group("encryption-keys", "Make keys that secrets are encrypted with at rest", generate)
}
