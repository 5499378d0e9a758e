package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

func (c *cli) webhooksCommand() *cobra.Command {
	return group("webhooks", "Send audit events to addresses, and see how they arrive",
		c.webhooksListCommand(), c.webhooksCreateCommand(), c.webhooksShowCommand(), c.webhooksUpdateCommand(), c.webhooksDeleteCommand(),
		c.webhooksTestCommand(), c.webhooksDeliveriesCommand(), c.webhooksReplayCommand())
}

// webhookFields is the order in which a webhook's fields are shown.
func webhookFields() []string {
	return []string{"id", "name", "url", "secret", "types", "catalog", "disabled", "pending", "dead"}
}

func (c *cli) webhooksListCommand() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List webhooks, with what they have not got",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.list(cmd.Context(), []string{"webhooks"}, nil, o, columns{
				{"ID", "id"}, {"NAME", "name"}, {"URL", "url"}, {"TYPES", "types"}, {"CATALOG", "catalog"},
				{"DISABLED", "disabled"}, {"PENDING", "pending"}, {"DEAD", "dead"},
			})
		},
	}
	o.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) webhooksCreateCommand() *cobra.Command {
	var types []string
	var catalog string
	cmd := &cobra.Command{
		Use:   "create NAME URL",
		Short: "Send events to an address from now on; the signing secret is shown once",
		Long: "Sends audit events to URL from now on, as CloudEvents that are signed as Standard Webhooks says, and shows the secret\n" +
			"by which the receiver checks them, once. Without --type it gets every event. It needs SERVICE_MANAGE_ACCESS.",
		Example: "  sluice webhooks create pager https://hooks.example.com/sluice --type 'finding.*' --type table.commit_denied",
		Args:    usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			body := map[string]any{"name": args[0], "url": args[1]}
			if len(types) > 0 {
				body["types"] = types
			}
			if catalog != "" {
				body["catalog"] = catalog
			}
			return c.object(cmd.Context(), http.MethodPost, []string{"webhooks"}, body, webhookFields()...)
		},
	}
	cmd.Flags().StringArrayVar(&types, "type", nil, "events of this kind, such as finding.opened, or of this group, such as finding.*; may be given several times (default: all)")
	cmd.Flags().StringVar(&catalog, "catalog", "", "events of this catalog alone (default: of all, and of none)")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) webhooksShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a webhook",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.object(cmd.Context(), http.MethodGet, []string{"webhooks", args[0]}, nil, webhookFields()...)
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) webhooksUpdateCommand() *cobra.Command {
	texts := map[string]*string{}
	var types []string
	var allTypes, disable, enable, rotate bool
	cmd := &cobra.Command{
		Use:   "update ID",
		Short: "Change a webhook, disable or enable it, or give it a new secret",
		Long: "Changes what is given of the webhook ID; the rest stays. One that is enabled again gets what happens from then on: what it\n" +
			"missed is had by `sluice webhooks replay`. A new secret is shown once and counts from the next delivery on.",
		Example: "  sluice webhooks update 0197a0de-7c1b-7f5e-9d3c-0d8a1f2b3c4d --rotate-secret",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if disable && enable {
				return usageError{errors.New("--disable and --enable exclude each other")}
			}
			if allTypes && len(types) > 0 {
				return usageError{errors.New("--all-types and --type exclude each other")}
			}
			body := map[string]any{}
			for flag, text := range texts {
				if cmd.Flags().Changed(flag) {
					body[flag] = *text
				}
			}
			switch {
			case allTypes:
				body["types"] = []string{}
			case len(types) > 0:
				body["types"] = types
			}
			if disable || enable {
				body["disabled"] = disable
			}
			if rotate {
				body["rotateSecret"] = true
			}
			if len(body) == 0 {
				return usageError{errors.New("nothing is to be changed: give a flag that says what")}
			}
			return c.object(cmd.Context(), http.MethodPut, []string{"webhooks", args[0]}, body, webhookFields()...)
		},
	}
	for flag, usage := range map[string]string{
		"name": "what it is to be called", "url": "where it is to send to", "catalog": "the only catalog whose events it is to get, '' for all",
	} {
		texts[flag] = cmd.Flags().String(flag, "", usage)
	}
	cmd.Flags().StringArrayVar(&types, "type", nil, "the only events that it is to get; may be given several times")
	cmd.Flags().BoolVar(&allTypes, "all-types", false, "it is to get every event")
	cmd.Flags().BoolVar(&disable, "disable", false, "send nothing any more")
	cmd.Flags().BoolVar(&enable, "enable", false, "send what happens from now on")
	cmd.Flags().BoolVar(&rotate, "rotate-secret", false, "sign with a new secret, which is shown once")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) webhooksDeleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete ID",
		Short: "Delete a webhook, with what is on its way",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.client()
			if err != nil {
				return err
			}
			if err := api.call(cmd.Context(), http.MethodDelete, []string{"webhooks", args[0]}, nil, nil, nil); err != nil {
				return err
			}
			return c.done(map[string]any{"id": args[0], "deleted": true}, "Webhook %s is deleted.\n", args[0])
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) webhooksTestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test ID",
		Short: "Send one signed event now and say what the receiver answered",
		Long: "Sends an event of the type dev.sluice.webhook.ping to the webhook ID and says what the receiver answered. It fails unless\n" +
			"that is 2xx.",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.client()
			if err != nil {
				return err
			}
			var answer json.RawMessage
			if err := api.call(cmd.Context(), http.MethodPost, []string{"webhooks", args[0], "test"}, nil, nil, &answer); err != nil {
				return err
			}
			if err := c.showObject(answer, "ok", "status", "problem", "body", "tookMs", "eventId"); err != nil {
				return err
			}
			var result struct {
				OK      bool   `json:"ok"`
				Problem string `json:"problem"`
			}
			if err := decodeAnswer(answer, &result); err != nil || result.OK {
				return err
			}
			return fmt.Errorf("the receiver did not take the event: %s", printable(result.Problem))
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) webhooksDeliveriesCommand() *cobra.Command {
	var o listOptions
	var state string
	cmd := &cobra.Command{
		Use:     "deliveries ID",
		Short:   "List deliveries of a webhook, newest first",
		Long:    "Lists deliveries of the webhook ID. Those that arrived are kept for a week, and those that were given up for a month.",
		Example: "  sluice webhooks deliveries 0197a0de-7c1b-7f5e-9d3c-0d8a1f2b3c4d --state dead",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.list(cmd.Context(), []string{"webhooks", args[0], "deliveries"}, filled(map[string]string{"state": state}), o, columns{
				{"ID", "id"}, {"CREATED", "createdAt"}, {"EVENT", "type"}, {"SEQ", "seq"}, {"STATE", "state"}, {"ATTEMPTS", "attempts"},
				{"NEXT", "nextAt"}, {"STATUS", "lastStatus"}, {"ERROR", "lastError"},
			})
		},
	}
	cmd.Flags().StringVar(&state, "state", "", "pending, delivered or dead (default: all)")
	o.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) webhooksReplayCommand() *cobra.Command {
	var since string
	var dead bool
	cmd := &cobra.Command{
		Use:   "replay ID",
		Short: "Send again what was given up, or what happened since a time",
		Long: "Sends to the webhook ID again: with --dead what was given up, with --since every event since then that it wants, those too that\n" +
			"arrived. Events that are sent again have the ids that they had.",
		Example: "  sluice webhooks replay 0197a0de-7c1b-7f5e-9d3c-0d8a1f2b3c4d --dead",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dead == (since != "") {
				return usageError{errors.New("give either --dead or --since")}
			}
			body := map[string]string{"state": "dead"}
			if !dead {
				body = map[string]string{"since": since}
			}
			return c.object(cmd.Context(), http.MethodPost, []string{"webhooks", args[0], "replay"}, body)
		},
	}
	cmd.Flags().BoolVar(&dead, "dead", false, "what was given up")
	cmd.Flags().StringVar(&since, "since", "", "a time such as 2026-01-31T12:00:00Z, or an age such as 24h or 7d")
	c.clientFlags(cmd)
	return cmd
}
