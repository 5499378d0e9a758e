package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/telemetry"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// cli is what the commands of one invocation share.
type cli struct {
	cfg       *config.Config
	lookupEnv func(string) (string, bool)
	out       io.Writer
	errOut    io.Writer
	program   string // how it is called again, for advice

	configFile string
	uri        string // of the client commands
	token      string
	login      clientCredentials
	found      *apiClient
	format     string // table or json
	sources    map[string]config.Source
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, lookupEnv func(string) (string, bool), out, errOut io.Writer) int {
	c := &cli{cfg: config.Default(), lookupEnv: lookupEnv, out: out, errOut: errOut, program: programName(os.Args[0])}
	root := c.root()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	return c.complain(err, args)
}

// sentence gives what a user is told: the most specific message there is, with what lies behind it, because who runs
// a command may see the inside.
func sentence(err error) string {
	found, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err.Error()
	}
	for {
		inner, ok := errors.AsType[*fault.Error](found.Cause)
		if !ok {
			break
		}
		found = inner
	}
	if found.Cause == nil {
		return found.Message
	}
	return found.Message + " (" + printable(causeText(found.Cause)) + ")"
}

// causeText is what lay behind; of a connection that failed the one thing to know, which drivers repeat for each attempt.
func causeText(cause error) string {
	if dial, ok := errors.AsType[*net.OpError](cause); ok {
		return dial.Error()
	}
	return cause.Error()
}

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "sluice",
		Short:         "Governance for Apache Iceberg lakehouses",
		Long:          "Sluice lets engines commit to governed Iceberg tables at their own speed,\njudges who and how inline, and governs every commit afterwards.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          onlyCommands,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return c.configure(cmd)
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.Version = buildLine(telemetry.ReadBuild())
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().StringVar(&c.configFile, "config", "", "YAML file of settings (SLUICE_CONFIG)")
	c.bind(root, true, "data", "log-level", "log-format")
	c.leadingConnectionFlags(root)
	root.AddCommand(
		c.serveCommand(), c.apiCommand(), c.workerCommand(), c.migrateCommand(), c.doctorCommand(), c.rootCommand(), c.signingKeysCommand(), c.encryptionKeysCommand(),
		c.demoCommand(), c.configCommand(), c.versionCommand(),
		c.catalogsCommand(), c.namespacesCommand(), c.principalsCommand(), c.principalRolesCommand(), c.catalogRolesCommand(),
		c.privilegesCommand(), c.canCommand(), c.setupCommand(), c.storageCommand(),
		c.tokensCommand(), c.policyCommand(), c.classificationCommand(), c.rowFiltersCommand(), c.tablesCommand(), c.rowsCommand(), c.commitsCommand(), c.writersCommand(), c.findingsCommand(), c.auditCommand(), c.webhooksCommand(), c.reconcileCommand(), c.whoamiCommand(), c.connectCommand(),
	)
	return root
}

// bind makes flags of the named settings.
func (c *cli) bind(cmd *cobra.Command, persistent bool, names ...string) {
	flags := cmd.Flags()
	if persistent {
		flags = cmd.PersistentFlags()
	}
	for _, s := range c.cfg.Settings() {
		for _, name := range names {
			if s.Name != name {
				continue
			}
			flag := flags.VarPF(s.Value, s.Name, "", s.Usage+" ("+s.Env()+")")
			if s.Value.Type() == "bool" {
				flag.NoOptDefVal = "true"
			}
		}
	}
}

// bindAll makes flags of every setting that matters to the scopes and may be seen in a process list.
func (c *cli) bindAll(cmd *cobra.Command, scopes ...config.Scope) {
	var names []string
	for _, s := range c.cfg.Settings() {
		if !s.Secret && !isPersistent(s.Name) && s.Matters(scopes...) {
			names = append(names, s.Name)
		}
	}
	c.bind(cmd, false, names...)
}

// hideData leaves --data out of the help of a command that has no data folder.
func hideData(cmd *cobra.Command) {
	help := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if flag := cmd.InheritedFlags().Lookup("data"); flag != nil {
			flag.Hidden = true
		}
		help(cmd, args)
	})
}

func isPersistent(name string) bool {
	return name == "data" || name == "log-level" || name == "log-format"
}

// configure completes the settings from the environment and the file, and checks them.
func (c *cli) configure(cmd *cobra.Command) error {
	if err := refuseConnectionFlags(cmd); err != nil {
		return err
	}
	if c.configFile == "" {
		c.configFile, _ = c.lookupEnv(config.EnvPrefix + "CONFIG")
	}
	sources, err := c.cfg.Fill(config.Sources{
		File: c.configFile, LookupEnv: c.lookupEnv, FlagGiven: cmd.Flags().Changed,
	})
	if err == nil {
		err = c.cfg.Verify()
	}
	if err != nil {
		return usageError{err}
	}
	c.sources = sources
	return nil
}

func (c *cli) logger() *slog.Logger {
	return telemetry.NewLogger(c.errOut, telemetry.LogOptions{Level: c.cfg.Log.Level, Format: c.cfg.Log.Format})
}

func (c *cli) say(format string, args ...any) { _, _ = fmt.Fprintf(c.out, format, args...) }

// group makes a command that only holds others.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short,
		Args: onlyCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(children...)
	return cmd
}
