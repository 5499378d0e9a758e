package main

import (
	"errors"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/models"
)

func (c *cli) tokensCommand() *cobra.Command {
	return group("tokens", "Mint, list and revoke engine tokens", c.tokensMintCommand(), c.tokensListCommand(), c.tokensRevokeCommand())
}

func (c *cli) tokensMintCommand() *cobra.Command {
	var principal, catalog, name string
	var principalRoles []string
	var readOnly, canGovern bool
	var expiresIn lifetime
	cmd := &cobra.Command{
		Use:   "mint",
		Short: "Mint an engine token; its secret is shown once",
		Long: "Mints a token for an engine. What it may do is what its principal's grants and each table's write policy say;\n" +
			"commits made with it are always external commits. The secret is shown once and not kept.\n" +
			"It may write unless --read-only is given, opens every catalog unless --catalog is, acts with all roles of its principal\n" +
			"unless --principal-role is, and governs only with --can-govern.",
		Example: "  sluice tokens mint --catalog main --name nightly-load --expires-in 30d",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			body := map[string]any{"canWrite": !readOnly}
			if canGovern {
				body["canGovern"] = true
			}
			if len(principalRoles) > 0 {
				body["principalRoles"] = principalRoles
			}
			for key, value := range map[string]string{"principal": principal, "catalog": catalog, "name": name} {
				if value != "" {
					body[key] = value
				}
			}
			if expiresIn != 0 {
				body["expiresIn"] = time.Duration(expiresIn).String()
			}
			return c.object(cmd.Context(), http.MethodPost, []string{"tokens"}, body, "id", "token", "principal", "catalog", "principalRoles", "canWrite", "canGovern", "expiresAt")
		},
	}
	cmd.Flags().StringVar(&principal, "principal", "", "whose token it is (default: who mints it)")
	cmd.Flags().StringVar(&catalog, "catalog", "", "the only catalog it opens (default: every one)")
	cmd.Flags().StringArrayVar(&principalRoles, "principal-role", nil, "a principal role that it acts with (default: all that its principal has); may be given several times")
	cmd.Flags().StringVar(&name, "name", "", "what to recognise it by, such as the job's name")
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "refuse every change made with it")
	cmd.Flags().BoolVar(&canGovern, "can-govern", false, "let it change policies, classifications, protection and tokens, as its principal may")
	cmd.Flags().Var(&expiresIn, "expires-in", "lifetime, such as 24h or 30d (default: the server's)")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) tokensListCommand() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List engine tokens, newest first",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.list(cmd.Context(), []string{"tokens"}, nil, o, columns{
				{"ID", "id"}, {"NAME", "name"}, {"HINT", "hint"}, {"PRINCIPAL", "principal"}, {"CATALOG", "catalog"},
				{"WRITES", "canWrite"}, {"GOVERNS", "canGovern"}, {"EXPIRES", "expiresAt"}, {"LAST USED", "lastUsedAt"}, {"REVOKED", "revokedAt"},
			})
		},
	}
	o.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) tokensRevokeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "End a token at once",
		Long: "Ends the engine or access token ID at once. ID is what `tokens mint` showed and `tokens list` shows, or `whoami` and the audit,\n" +
			"not the token itself. A token of an external issuer cannot be revoked: disable its principal.",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.client()
			if err != nil {
				return err
			}
			if err := api.call(cmd.Context(), http.MethodDelete, []string{"tokens", args[0]}, nil, nil, nil); err != nil {
				return err
			}
			return c.done(map[string]any{"id": args[0], "revoked": true}, "Token %s is revoked.\n", args[0])
		},
	}
	c.clientFlags(cmd)
	return cmd
}

// done reports an effect that the API answers with nothing.
func (c *cli) done(object any, format string, args ...any) error {
	if c.format == formatJSON {
		return c.showJSON(object)
	}
	c.say(format, args...)
	return nil
}

// lifetime is a flag's length of time, which may be in days and weeks.
type lifetime time.Duration

// Set implements pflag.Value, as do the methods below.
func (l *lifetime) Set(text string) error {
	d, err := models.ParseDuration(text)
	if err == nil && d <= 0 {
		err = errors.New("it must be positive")
	}
	*l = lifetime(d)
	return err
}

func (l *lifetime) String() string {
	if *l == 0 {
		return ""
	}
	return time.Duration(*l).String()
}

// Type is the word for a value in the help.
func (l *lifetime) Type() string { return "duration" }
