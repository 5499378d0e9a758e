package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/config"
)

// maxSecrets bounds what is read of standard input, in bytes.
const maxSecrets = 64 << 10

// secretVariables are the environment variables of storage secrets, by the members of the request.
func secretVariables() [][2]string {
	return [][2]string{
		{"accessKey", config.EnvPrefix + "STORAGE_ACCESS_KEY"}, {"secretKey", config.EnvPrefix + "STORAGE_SECRET_KEY"},
		{"accountKey", config.EnvPrefix + "STORAGE_ACCOUNT_KEY"}, {"clientId", config.EnvPrefix + "STORAGE_CLIENT_ID"},
		{"clientSecret", config.EnvPrefix + "STORAGE_CLIENT_SECRET"}, {"serviceKey", config.EnvPrefix + "STORAGE_SERVICE_KEY"},
	}
}

func (c *cli) storageCommand() *cobra.Command {
	return group("storage", "Try catalogs' object stores, set their keys, and see who reaches files how",
		c.storageValidateCommand(), c.storageSetSecretsCommand(), c.storageAccessCommand())
}

func (c *cli) storageAccessCommand() *cobra.Command {
	var table string
	var o listOptions
	cmd := &cobra.Command{
		Use:   "access",
		Short: "List who reaches which table's files by keys, by signatures, or undelegated",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.list(cmd.Context(), []string{"storage-access"}, filled(map[string]string{"table": table}), o, columns{
				{"TABLE", "ref"}, {"PRINCIPAL", "principal"}, {"TOKEN", "tokenId"}, {"MODE", "mode"}, {"FIRST", "firstAt"}, {"LAST", "lastAt"}, {"COUNT", "count"},
			})
		},
	}
	cmd.Flags().StringVar(&table, "table", "", "of this table alone")
	o.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) storageSetSecretsCommand() *cobra.Command {
	var stdin, remove bool
	cmd := &cobra.Command{
		Use:   "set-secrets CATALOG",
		Short: "Set the keys that a catalog's object store is reached with",
		Long: "Gives CATALOG keys of its own, in place of those it had. They are read of the environment, never of flags, which others see:\n" +
			"SLUICE_STORAGE_ACCESS_KEY and SLUICE_STORAGE_SECRET_KEY for s3, SLUICE_STORAGE_ACCOUNT_KEY, or SLUICE_STORAGE_CLIENT_ID and\n" +
			"SLUICE_STORAGE_CLIENT_SECRET, for azure, SLUICE_STORAGE_SERVICE_KEY (the JSON of a service account's key) for gcs. With --stdin\n" +
			"they are read of standard input, as a JSON object such as {\"accessKey\":\"…\",\"secretKey\":\"…\"}.",
		Example: "  sluice storage set-secrets lake --stdin < keys.json",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := []string{"catalogs", args[0], "storage-secrets"}
			if remove {
				if stdin {
					return usageError{errors.New("--remove takes no secrets, so that --stdin does not go with it")}
				}
				return c.govern(cmd.Context(), http.MethodDelete, path, nil, "Catalog %s has no keys of its own", args[0])
			}
			secrets, err := c.storageSecrets(cmd, stdin)
			if err != nil {
				return err
			}
			return c.govern(cmd.Context(), http.MethodPut, path, secrets, "Catalog %s has its keys; try them with `sluice storage validate`", args[0])
		},
	}
	cmd.Flags().BoolVar(&stdin, "stdin", false, "read the secrets of standard input, as a JSON object")
	cmd.Flags().BoolVar(&remove, "remove", false, "take the catalog's keys away")
	c.clientFlags(cmd)
	return cmd
}

// storageSecrets reads the secrets.
func (c *cli) storageSecrets(cmd *cobra.Command, stdin bool) (map[string]string, error) {
	secrets := map[string]string{}
	if stdin {
		data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxSecrets))
		if err != nil {
			return nil, fmt.Errorf("standard input cannot be read: %w", err)
		}
		if json.Unmarshal(data, &secrets) != nil { // the error would show what was read
			return nil, usageError{errors.New("standard input is no JSON object of strings, such as {\"accessKey\":\"…\",\"secretKey\":\"…\"}")}
		}
		return secrets, nil
	}
	for _, v := range secretVariables() {
		if value, ok := c.lookupEnv(v[1]); ok && value != "" {
			secrets[v[0]] = value
		}
	}
	if len(secrets) == 0 {
		return nil, usageError{errors.New("there are no secrets: set SLUICE_STORAGE_ACCESS_KEY and SLUICE_STORAGE_SECRET_KEY, or those of another kind of storage (--help names them), or give --stdin")}
	}
	return secrets, nil
}

// govern makes a change by the governance API, which answers nothing, and says that it is made.
func (c *cli) govern(ctx context.Context, method string, path []string, body any, format string, args ...any) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	if err := api.call(ctx, method, path, nil, body, nil); err != nil {
		return err
	}
	said := fmt.Sprintf(format, args...)
	return c.done(map[string]string{"done": said}, "%s.\n", said)
}

func (c *cli) storageValidateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate CATALOG",
		Short: "Try everything that is needed of a catalog's object store",
		Long: "Puts, reads, lists and deletes objects below CATALOG's location, uploads one in parts, asks for temporary keys and shows that\n" +
			"they open one folder alone, and sends a signed request. Says of each step how it went, and ends with 1 where one failed.",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.validateCatalog(cmd.Context(), args[0]) },
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) validateCatalog(ctx context.Context, name string) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var answer json.RawMessage
	if err := api.call(ctx, http.MethodPost, []string{"catalogs", name, "storage", "validate"}, nil, nil, &answer); err != nil {
		return err
	}
	var validated struct {
		OK    bool             `json:"ok"`
		Steps []map[string]any `json:"steps"`
	}
	if err := decodeAnswer(answer, &validated); err != nil {
		return err
	}
	if c.format == formatJSON {
		err = c.showJSON(answer)
	} else {
		for _, step := range validated.Steps {
			step["result"] = resultOf(step)
		}
		err = writeTable(c.out, validated.Steps, columns{{"STEP", "name"}, {"RESULT", "result"}, {"TOOK", "took"}, {"", "detail"}})
	}
	if err == nil && !validated.OK {
		return noError{}
	}
	return err
}

func resultOf(step map[string]any) string {
	switch {
	case step["skipped"] == true:
		return "skipped"
	case step["ok"] == true:
		return "ok"
	}
	return "FAILED"
}
