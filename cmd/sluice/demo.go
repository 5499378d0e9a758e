package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/telemetry"
	"github.com/sluice-data/sluice/internal/temporalx"
	"github.com/sluice-data/sluice/models"
)

const (
	demoNamespace = "demo"
	demoTable     = "events"
	demoRows      = 1000
	// demoPatience is how long the demo waits for the commit's audit event.
	demoPatience = 30 * time.Second
)

func (c *cli) demoCommand() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the main job in a minute, on a folder of its own that is removed afterwards",
		Long: "Starts Sluice on a temporary folder and free ports, makes a table as an outside engine, has a commit refused, opens\n" +
			"the table's write policy, commits, and shows the audit event of the governed commit. It needs no network.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.runDemo(cmd.Context(), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave it running until interrupted, to follow the links")
	return cmd
}

func (c *cli) runDemo(ctx context.Context, keep bool) error {
	folder, err := os.MkdirTemp("", "sluice-demo-")
	if err != nil {
		return unusable(os.TempDir(), err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	cfg := config.Default()
	cfg.DataDir, cfg.Listen, cfg.Temporal.Port, cfg.Temporal.UIPort = folder, "127.0.0.1:0", 0, 0
	c.say("Starting Sluice on %s ...\n", folder)
	e, err := startEmbedded(ctx, cfg, telemetry.NewLogger(c.errOut, telemetry.LogOptions{Level: "error", Format: "text"}))
	if err != nil {
		return err
	}
	defer e.stop()
	d := &demo{
		cli: c, file: e.file, namespace: cfg.Temporal.Namespace, ref: e.file.Catalog + "." + demoNamespace + "." + demoTable,
		api: &apiClient{base: e.file.GovernanceURI, token: e.file.Token, http: &http.Client{Timeout: callTimeout}},
	}
	c.say("It serves the Iceberg REST catalog %s, Temporal's UI is at %s\n\n", e.file.CatalogURI, e.file.TemporalUIURI)
	if err := d.run(ctx); err != nil {
		return err
	}
	if keep {
		c.say("\nStill running; Ctrl-C ends it and removes %s.\n", folder)
		return waitFor(ctx, e.http, e.fatal)
	}
	c.say("\nThe demo ends here and its folder is removed: with --keep it stays for you to follow the links.\nStart for real: sluice serve\n")
	return nil
}

// demo is one run of the demonstration, as an outside client of a running Sluice.
type demo struct {
	cli       *cli
	api       *apiClient
	file      bootstrapFile
	namespace string // of Temporal
	ref       string // of the table
}

func (d *demo) run(ctx context.Context) error {
	token, err := d.mintToken(ctx)
	if err != nil {
		return err
	}
	engine, err := newDemoEngine(ctx, d.file.CatalogURI, d.file.Catalog, token)
	if err != nil {
		return err
	}
	if err := engine.createTable(ctx); err != nil {
		return err
	}
	d.cli.say("2. The engine made the namespace %s and the table %s.\n", demoNamespace, d.ref)
	if err := d.showRefusal(ctx, engine); err != nil {
		return err
	}
	policy := map[string]string{"policy": string(models.OpenAppend)}
	if err := d.api.call(ctx, http.MethodPut, []string{"tables", d.ref, "write-policy"}, nil, policy, nil); err != nil {
		return err
	}
	d.cli.say("4. Its governor opens it for appends: sluice policy set %s %s\n", d.ref, models.OpenAppend)
	snapshot, err := engine.appendRows(ctx, demoRows)
	if err != nil {
		return fmt.Errorf("the commit should have been taken now: %w", err)
	}
	d.cli.say("5. The engine appends %d rows and commits snapshot %d: taken at once.\n", demoRows, snapshot)
	return d.showAudit(ctx)
}

func (d *demo) mintToken(ctx context.Context) (string, error) {
	var minted struct{ ID, Token string }
	body := map[string]any{"principal": models.RootPrincipal, "catalog": d.file.Catalog, "name": "demo engine", "canWrite": true, "expiresIn": "1h"}
	err := d.api.call(ctx, http.MethodPost, []string{"tokens"}, nil, body, &minted)
	if err != nil {
		return "", err
	}
	d.cli.say("1. An engine gets a token for the catalog %s that lives an hour.\n", d.file.Catalog)
	return minted.Token, nil
}

func (d *demo) showRefusal(ctx context.Context, engine *demoEngine) error {
	_, err := engine.appendRows(ctx, demoRows)
	if err == nil {
		return errors.New("a commit to a governed table was taken: this is a bug, please report it")
	}
	d.cli.say("3. The engine commits an append. The table's policy is %s, so that is refused:\n     %s\n", models.GovernedOnly, printable(err.Error()))
	return nil
}

// showAudit waits until the commit is governed.
func (d *demo) showAudit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, demoPatience)
	defer cancel()
	started := time.Now()
	query := url.Values{"table": {d.ref}, "type": {string(models.AuditCommitReconciled)}}
	for {
		var events page
		if err := d.api.call(ctx, http.MethodGet, []string{"audit"}, query, nil, &events); err != nil {
			return err
		}
		if len(events.Items) > 0 {
			return d.printAudit(ctx, events.Items[0], time.Since(started))
		}
		select {
		case <-ctx.Done():
			return errors.New("the commit was not governed in time: this is a bug, please report it")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (d *demo) printAudit(ctx context.Context, event map[string]any, took time.Duration) error {
	d.cli.say("6. %s later a workflow has recounted, restamped and audited the commit:\n\n", took.Round(10*time.Millisecond))
	if err := d.cli.showJSON(event); err != nil {
		return err
	}
	var table map[string]any
	if err := d.api.call(ctx, http.MethodGet, []string{"tables", d.ref}, nil, nil, &table); err != nil {
		return err
	}
	d.cli.say("\nThe table has %s rows, counted and not believed.\n", cell(table["rowCount"]))
	if id, ok := lookup(event, "details.workflowId").(string); ok {
		d.cli.say("The workflow:   %s\n", temporalx.WorkflowURL(d.file.TemporalUIURI, d.namespace, id))
	}
	d.cli.say("The whole audit: sluice audit list --table %s --uri %s --token %s\n", d.ref, strings.TrimSuffix(d.file.GovernanceURI, governancePath), d.file.Token)
	return nil
}
