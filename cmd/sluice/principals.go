package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/models"
)

func (c *cli) principalsCommand() *cobra.Command {
	return group("principals", "Make, show and change principals, and give them new credentials",
		c.principalsCreateCommand(), c.principalsDeleteCommand(), c.principalsGetCommand(), c.principalsListCommand(), c.principalsUpdateCommand(),
		c.principalsRotateCommand(), c.principalsResetCommand(), c.principalsAccessCommand())
}

func (c *cli) principalsCreateCommand() *cobra.Command {
	var kind, clearance string
	var props []string
	var mustRotate bool
	cmd := &cobra.Command{
		Use:   "create PRINCIPAL",
		Short: "Make a principal; its client secret is shown once",
		Long: "Makes PRINCIPAL, who may do nothing until it is given principal roles, and shows its client id and secret, once.\n" +
			"With --must-rotate they are good for nothing but `sluice principals rotate-credentials`.",
		Example: "  sluice principals create etl --clearance confidential --property team=data",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !strings.EqualFold(kind, "service") {
				return usageError{fmt.Errorf("type %q is not service, which is the only one", kind)}
			}
			all, err := properties(props)
			if err != nil {
				return err
			}
			principal := entity{"name": args[0], "properties": all}
			if err := setClearance(principal, clearance); err != nil {
				return err
			}
			body := entity{"principal": principal, "credentialRotationRequired": mustRotate}
			return c.showCredentials(cmd, []string{"principals"}, body)
		},
	}
	cmd.Flags().StringVar(&kind, "type", "service", "service: there are no others")
	propertyFlag(cmd, &props)
	clearanceFlag(cmd, &clearance)
	cmd.Flags().BoolVar(&mustRotate, "must-rotate", false, "the credentials shown are good for their rotation alone")
	c.clientFlags(cmd)
	return cmd
}

func clearanceFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "clearance", "", "the most sensitive data it may see: public, internal, confidential or restricted")
}

func setClearance(body entity, clearance string) error {
	if clearance == "" {
		return nil
	}
	level, err := models.ParseClassification(clearance)
	if err != nil {
		return usageError{err}
	}
	body["clearance"] = level
	return nil
}

// newCredentials are a principal's credentials as they are printed.
type newCredentials struct {
	Name         string `json:"name"`
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
}

// credentialsAnswer is what the management API answers where it shows credentials.
type credentialsAnswer struct {
	Principal   principalAnswer `json:"principal"`
	Credentials struct {
		ClientID     string `json:"clientId"`
		ClientSecret string `json:"clientSecret"`
	} `json:"credentials"`
}

type principalAnswer struct {
	Name       string                `json:"name"`
	Clearance  models.Classification `json:"clearance"`
	Disabled   bool                  `json:"disabled"`
	Properties map[string]string     `json:"properties"`
	Version    int64                 `json:"entityVersion"`
}

// showCredentials asks for credentials by a POST and shows them.
func (c *cli) showCredentials(cmd *cobra.Command, path []string, body any) error {
	var answer credentialsAnswer
	if err := c.administer(cmd.Context(), http.MethodPost, path, body, &answer); err != nil {
		return err
	}
	shown := newCredentials{answer.Principal.Name, answer.Credentials.ClientID, answer.Credentials.ClientSecret}
	return c.done(shown, "principal      %s\nclient id      %s\nclient secret  %s\nThe secret is not shown again.\n",
		cell(shown.Name), cell(shown.ClientID), cell(shown.ClientSecret))
}

func (c *cli) principalsDeleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete PRINCIPAL",
		Short: "Delete a principal; its tokens end at once",
		Long: "Deletes PRINCIPAL; its tokens end at once. One that tokens of an external issuer make, by create-principals, is made again\n" +
			"by the next: disable it instead.",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.change(cmd.Context(), http.MethodDelete, []string{"principals", args[0]}, nil, "Principal %s is deleted", args[0])
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) principalsGetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get PRINCIPAL",
		Short: "Show a principal",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.get(cmd.Context(), []string{"principals", args[0]}, "name", "clientId", "clearance", "disabled", "properties")
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) principalsListCommand() *cobra.Command {
	var role string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List principals",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path := []string{"principals"}
			if role != "" {
				path = []string{"principal-roles", role, "principals"}
			}
			return c.whole(cmd.Context(), path, "principals", "No principals.", columns{
				{"PRINCIPAL", "name"}, {"CLIENT ID", "clientId"}, {"CLEARANCE", "clearance"}, {"DISABLED", "disabled"}, {"VERSION", "entityVersion"},
			})
		},
	}
	cmd.Flags().StringVar(&role, "principal-role", "", "those alone that have this principal role")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) principalsUpdateCommand() *cobra.Command {
	var clearance string
	var disable, enable bool
	var props propertyFlags
	cmd := &cobra.Command{
		Use:     "update PRINCIPAL",
		Short:   "Change a principal's properties and clearance, disable or enable it",
		Long:    "Changes what is given of PRINCIPAL; the rest stays. Disabling it ends everything that it does, at once.",
		Example: "  sluice principals update etl --clearance restricted --set-property team=data",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if disable && enable {
				return usageError{errors.New("--disable and --enable exclude each other")}
			}
			return c.modify(cmd.Context(), []string{"principals", args[0]}, func(is, update entity) error {
				if disable || enable {
					update["disabled"] = disable
				}
				if err := setClearance(update, clearance); err != nil {
					return err
				}
				return props.change(is, update)
			}, "Principal %s is changed", args[0])
		},
	}
	props.flags(cmd)
	clearanceFlag(cmd, &clearance)
	cmd.Flags().BoolVar(&disable, "disable", false, "end all that it does")
	cmd.Flags().BoolVar(&enable, "enable", false, "let it in again")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) principalsRotateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rotate-credentials PRINCIPAL",
		Short: "Get a new client secret, as the principal itself; the old one stays good for a while",
		Long: "Gets a new client secret for PRINCIPAL, whose token or client credentials must be the ones that are used, and shows it, once.\n" +
			"The secret before stays good for the server's secret-overlap, so that jobs can be given the new one without a stop.",
		Example: "  SLUICE_CLIENT_SECRET=… sluice principals rotate-credentials etl --client-id 7f3a",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.showCredentials(cmd, []string{"principals", args[0], "rotate"}, nil)
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) principalsResetCommand() *cobra.Command {
	var id, secret string
	cmd := &cobra.Command{
		Use:   "reset PRINCIPAL",
		Short: "Give a principal new credentials; the old ones and its access tokens end at once",
		Long: "Gives PRINCIPAL a new client secret and shows it, once. The secrets and access tokens that it had are good for nothing;\n" +
			"its engine tokens stay, until `sluice tokens revoke`.",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var body entity
			for member, value := range map[string]string{"clientId": id, "clientSecret": secret} {
				if value != "" {
					if body == nil {
						body = entity{}
					}
					body[member] = value
				}
			}
			path := []string{"principals", args[0], "reset"}
			if body == nil {
				return c.showCredentials(cmd, path, nil)
			}
			return c.showCredentials(cmd, path, body)
		},
	}
	cmd.Flags().StringVar(&id, "new-client-id", "", "the client id to have (default: as it is)")
	cmd.Flags().StringVar(&secret, "new-client-secret", "", "the client secret to have (default: made up)")
	c.clientFlags(cmd)
	return cmd
}
