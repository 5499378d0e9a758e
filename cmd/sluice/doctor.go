package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/config"
)

// diagnosisTimeout bounds one check of doctor.
const diagnosisTimeout = 15 * time.Second

// The outcomes of a check.
const (
	wellOutcome = "ok"
	warnOutcome = "warning"
	failOutcome = "wrong"
)

// finding is what a check of doctor found.
type finding struct {
	Check  string `json:"check"`
	Result string `json:"result"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`
}

func well(detail string) finding { return finding{Result: wellOutcome, Detail: detail} }
func warn(detail, remedy string) finding {
	return finding{Result: warnOutcome, Detail: detail, Remedy: remedy}
}
func broken(detail, remedy string) finding {
	return finding{Result: failOutcome, Detail: detail, Remedy: remedy}
}

// diagnosis is one check of doctor.
type diagnosis struct {
	name string
	run  func(context.Context) finding
}

func (c *cli) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check database, schema, Temporal, warehouse, issuers, clocks, disk and ports",
		Long: "Checks what Sluice needs and says what is wrong and how to mend it; it ends with 1 when something is wrong.\n" +
			"With SLUICE_DATABASE_URL set it checks what api and worker use, else the data folder, whether serve runs or not.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.diagnose(cmd.Context()) },
	}
	c.bindAll(cmd, config.Embedded, config.External, config.Serving, config.Governing, config.Founding)
	c.outputFlag(cmd)
	return cmd
}

func (c *cli) diagnose(ctx context.Context) error {
	checks := c.embeddedDiagnoses()
	if c.cfg.Database.URL != "" {
		checks = c.externalDiagnoses()
	}
	if c.cfg.Tokens.OIDCFile != "" {
		checks = append(checks, diagnosis{"issuers", func(context.Context) finding { return checkIssuers(c.cfg) }})
	}
	rows := make([]finding, 0, len(checks))
	wrong := 0
	for _, check := range checks {
		found := runDiagnosis(ctx, check)
		if found.Result == failOutcome {
			wrong++
		}
		found.Check = check.name
		rows = append(rows, found)
	}
	err := c.show(rows, columns{{"CHECK", "check"}, {"RESULT", "result"}, {"DETAIL", "detail"}, {"REMEDY", "remedy"}})
	if err == nil && wrong > 0 {
		err = errors.New("something is wrong: see above for what to do")
	}
	return err
}

// checkIssuers reads the file of external issuers as a server does when it starts.
func checkIssuers(cfg *config.Config) finding {
	if _, _, err := configuredIssuers(cfg); err != nil {
		return broken(sentence(err), "correct the file, or the setting oidc-file: serve and api do not start with it")
	}
	return well(cfg.Tokens.OIDCFile)
}

func runDiagnosis(ctx context.Context, d diagnosis) finding {
	ctx, cancel := context.WithTimeout(ctx, diagnosisTimeout)
	defer cancel()
	return d.run(ctx)
}
