package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
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
		Long: "Starts Sluice on a temporary folder and free ports, makes a table as an engine, has a commit refused, opens the\n" +
			"table's write policy, commits, and shows the audit event of the governed commit. It needs no network.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.runDemo(cmd.Context(), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave it running until interrupted, and print the links to follow")
	c.outputFlag(cmd)
	return cmd
}

func (c *cli) runDemo(ctx context.Context, keep bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Where nobody reads any more, as after `| head`, a write would end the process and leave the folder behind.
	signal.Ignore(syscall.SIGPIPE)
	c.out = &pipe{out: c.out, broken: cancel}
	folder, err := os.MkdirTemp("", "sluice-demo-")
	if err != nil {
		return unusable(os.TempDir(), err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	cfg := config.Default()
	cfg.DataDir, cfg.Listen, cfg.Temporal.Port, cfg.Temporal.UIPort = folder, "127.0.0.1:0", 0, 0
	c.tell("Starting Sluice on %s ...\n\n", folder)
	e, err := startEmbedded(ctx, cfg, telemetry.NewLogger(c.errOut, telemetry.LogOptions{Level: "error", Format: "text"}))
	if err != nil {
		return err
	}
	defer e.stop()
	d := &demo{
		cli: c, file: e.file, namespace: cfg.Temporal.Namespace,
		api: &apiClient{session: &session{token: e.file.Token, http: &http.Client{Timeout: callTimeout}}, base: e.file.GovernanceURI},
	}
	d.report.Table = e.file.Catalog + "." + demoNamespace + "." + demoTable
	if err := d.run(ctx); err != nil {
		return err
	}
	if keep {
		d.report.Links = d.links()
	}
	if err := d.conclude(folder); err != nil || !keep {
		return err
	}
	return waitFor(ctx, e.http, e.fatal)
}

// tell prints progress for people.
func (c *cli) tell(format string, args ...any) {
	if c.format != formatJSON {
		c.say(format, args...)
	}
}

// pipe tells when nobody reads any more.
type pipe struct {
	out    io.Writer
	broken func()
}

// Write implements io.Writer.
func (p *pipe) Write(b []byte) (int, error) {
	n, err := p.out.Write(b)
	if err != nil {
		p.broken()
	}
	return n, err
}

// demo is one run of the demonstration, as a client of a running Sluice.
type demo struct {
	cli       *cli
	api       *apiClient
	file      bootstrapFile
	namespace string // of Temporal
	report    demoReport
}

// demoReport is what the demonstration showed.
type demoReport struct {
	Table      string          `json:"table"`
	Refusal    string          `json:"refusal"` // of the first commit
	SnapshotID string          `json:"snapshotId"`
	Rows       int             `json:"rows"`
	GovernedMs int64           `json:"governedAfterMs"`
	Event      json.RawMessage `json:"event"` // of the audit
	RowCount   json.Number     `json:"rowCount"`
	Links      *demoLinks      `json:"links,omitempty"` // while it is kept running
}

type demoLinks struct {
	Catalog    string `json:"catalog"`
	TemporalUI string `json:"temporalUi"`
	Workflow   string `json:"workflow"`
	Audit      string `json:"audit"` // the command that shows all of it
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
	d.cli.tell("2. The engine made the namespace %s and the table %s.\n", demoNamespace, d.report.Table)
	if err := d.showRefusal(ctx, engine); err != nil {
		return err
	}
	policy := map[string]string{"policy": string(models.OpenAppend)}
	if err := d.api.call(ctx, http.MethodPut, []string{"tables", d.report.Table, "write-policy"}, nil, policy, nil); err != nil {
		return err
	}
	d.cli.tell("4. Its governor opens it for appends: sluice policy set %s %s\n", d.report.Table, models.OpenAppend)
	snapshot, err := engine.appendRows(ctx, demoRows)
	if err != nil {
		return fmt.Errorf("the commit should have been taken now: %w", err)
	}
	d.report.SnapshotID, d.report.Rows = strconv.FormatInt(snapshot, 10), demoRows
	d.cli.tell("5. The engine appends %d rows and commits snapshot %d: taken at once.\n", demoRows, snapshot)
	return d.awaitAudit(ctx)
}

func (d *demo) mintToken(ctx context.Context) (string, error) {
	var minted struct{ ID, Token string }
	body := map[string]any{"principal": models.RootPrincipal, "catalog": d.file.Catalog, "name": "demo engine", "canWrite": true, "expiresIn": "1h"}
	err := d.api.call(ctx, http.MethodPost, []string{"tokens"}, nil, body, &minted)
	if err != nil {
		return "", err
	}
	d.cli.tell("1. An engine gets a token for the catalog %s that lives an hour.\n", d.file.Catalog)
	return minted.Token, nil
}

func (d *demo) showRefusal(ctx context.Context, engine *demoEngine) error {
	err := engine.setProperty(ctx, "owner", "demo")
	if err == nil {
		return errors.New("a commit to a governed table was taken: this is a bug, please report it")
	}
	d.report.Refusal = printable(err.Error())
	d.cli.tell("3. The engine commits a change. The table's policy is %s, so that is refused, and the storage keys that it gets only read:\n     %s\n",
		models.GovernedOnly, d.report.Refusal)
	return nil
}

// awaitAudit waits until the commit is governed.
func (d *demo) awaitAudit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, demoPatience)
	defer cancel()
	started := time.Now()
	query := url.Values{"table": {d.report.Table}, "type": {string(models.AuditCommitReconciled)}}
	for {
		var events page
		if err := d.api.call(ctx, http.MethodGet, []string{"audit"}, query, nil, &events); err != nil {
			return err
		}
		if len(events.Items) > 0 {
			d.report.GovernedMs, d.report.Event = time.Since(started).Milliseconds(), events.Items[0]
			return d.api.call(ctx, http.MethodGet, []string{"tables", d.report.Table}, nil, nil, &struct {
				RowCount *json.Number `json:"rowCount"`
			}{&d.report.RowCount})
		}
		select {
		case <-ctx.Done():
			return errors.New("the commit was not governed in time: this is a bug, please report it")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (d *demo) links() *demoLinks {
	var event struct {
		Details struct {
			WorkflowID string `json:"workflowId"`
		} `json:"details"`
	}
	_ = json.Unmarshal(d.report.Event, &event) // the server made it
	return &demoLinks{
		Catalog: d.file.CatalogURI, TemporalUI: d.file.TemporalUIURI,
		Workflow: temporalx.WorkflowURL(d.file.TemporalUIURI, d.namespace, event.Details.WorkflowID),
		Audit: fmt.Sprintf("%s audit list --table %s --uri %s --token %s",
			d.cli.program, d.report.Table, strings.TrimSuffix(d.file.GovernanceURI, governancePath), d.file.Token),
	}
}

// conclude prints the outcome: as JSON, or for people, with what is there to follow while it is kept running.
func (d *demo) conclude(folder string) error {
	c := d.cli
	if c.format == formatJSON {
		return c.showJSON(d.report)
	}
	c.say("6. %d ms later a workflow has recounted, restamped and audited the commit:\n\n", d.report.GovernedMs)
	if err := c.showJSON(d.report.Event); err != nil {
		return err
	}
	c.say("\nThe table has %s rows, counted and not believed.\n", d.report.RowCount)
	if links := d.report.Links; links != nil {
		c.say("\nStill running; Ctrl-C ends it and removes %s.\n", folder)
		c.say("  Iceberg REST catalog   %s\n  Temporal UI            %s\n  The workflow           %s\n  The whole audit        %s\n",
			links.Catalog, links.TemporalUI, links.Workflow, links.Audit)
		return nil
	}
	c.say("\nThe demo ends here and its folder is removed; with --keep it goes on running, with links to follow.\nStart for real: %s serve\n", c.program)
	return nil
}
