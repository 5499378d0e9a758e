package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/setup"
)

func (c *cli) setupCommand() *cobra.Command {
	return group("setup", "Bring principals, roles, catalogs and grants to what a file says, or write that file",
		c.setupApplyCommand(), c.setupExportCommand())
}

// applyOptions are the flags of setup apply.
type applyOptions struct {
	dryRun, prune   bool
	credentialsFile string
}

func (c *cli) setupApplyCommand() *cobra.Command {
	var o applyOptions
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Make what a file describes and is not there yet",
		Long: "Compares the installation with FILE (- for standard input), shows what differs, and makes it so: + adds, ~ changes, - removes.\n" +
			"A second time there is nothing to change. FILE is what `sluice setup export` writes and Polaris's own setup command reads.\n" +
			"Nothing is taken away without --prune. With it, from the principals, catalogs and catalog roles that FILE names go the\n" +
			"assignments, catalog roles, grants and properties that it does not list, where it lists any or an empty list; never\n" +
			"principals, principal roles, catalogs, root's roles or catalog_admin.\n" +
			"The client secrets of new principals are shown once, or written to --credentials-file.",
		Example: "  sluice setup apply access.yaml --dry-run",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.applySetup(cmd, args[0], o) },
	}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would be done, and do nothing")
	cmd.Flags().BoolVar(&o.prune, "prune", false, "take away what the file does not list")
	cmd.Flags().StringVar(&o.credentialsFile, "credentials-file", "", "new file, of mode 0600, for the credentials of new principals")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) setupExportCommand() *cobra.Command {
	var withoutLocations bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the file that describes the installation, without secrets",
		Long: "Writes principals, principal roles and catalogs with their namespaces, catalog roles, assignments and grants as YAML, for\n" +
			"`sluice setup apply` and Polaris's own setup command. Tables, credentials and secrets are not in it.\n" +
			"With --without-locations it can be applied to a server whose catalogs are there already and lie elsewhere.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := c.installation()
			if err != nil {
				return err
			}
			state, err := in.read(cmd.Context(), nil)
			if err != nil {
				return err
			}
			if withoutLocations {
				state = state.WithoutLocations()
			}
			file, err := setup.Export(state)
			if err != nil {
				return err
			}
			_, err = c.out.Write(file)
			return err
		},
	}
	cmd.Flags().BoolVar(&withoutLocations, "without-locations", false, "leave out where catalogs and namespaces lie and how that storage is reached")
	c.connectionFlags(cmd)
	return cmd
}

func (c *cli) applySetup(cmd *cobra.Command, file string, o applyOptions) error {
	wanted, err := c.readSetup(cmd, file)
	if err != nil {
		return err
	}
	in, err := c.installation()
	if err != nil {
		return err
	}
	current, err := in.read(cmd.Context(), &wanted)
	if err != nil {
		return err
	}
	if reasons := setup.Check(current, wanted); len(reasons) > 0 {
		return fmt.Errorf("nothing was changed: %s", strings.Join(reasons, "; "))
	}
	changes := setup.Diff(current, wanted, o.prune)
	told := &setupReport{cli: c, credentialsFile: o.credentialsFile}
	for _, change := range changes {
		told.Changes = append(told.Changes, changeLine{string(change.Action), change.What})
	}
	if c.format != formatJSON {
		for _, change := range changes {
			c.say("%s\n", printable(change.String()))
		}
	}
	if o.dryRun || len(changes) == 0 {
		return told.finish(o.dryRun, nil)
	}
	return told.apply(cmd.Context(), in, changes)
}

// readSetup reads the file, and says of what it leaves out.
func (c *cli) readSetup(cmd *cobra.Command, file string) (setup.State, error) {
	from := cmd.InOrStdin()
	if file != "-" {
		opened, err := os.Open(filepath.Clean(file))
		if err != nil {
			return setup.State{}, usageError{fmt.Errorf("%s cannot be read: %w", file, errors.Unwrap(err))}
		}
		defer func() { _ = opened.Close() }()
		from = opened
	}
	data, err := io.ReadAll(io.LimitReader(from, setup.MaxFile+1))
	if err != nil {
		return setup.State{}, fmt.Errorf("%s cannot be read: %w", file, err)
	}
	wanted, notes, err := setup.Parse(data)
	if problems, ok := errors.AsType[setup.FileErrors](err); ok {
		lines := strings.Split(problems.Error(), "\n")
		if more := len(lines) - 10; more > 0 {
			lines = append(lines[:10], fmt.Sprintf("and %d more", more))
		}
		return wanted, usageError{fmt.Errorf("%s is wrong: %s", file, strings.Join(lines, "; "))}
	}
	if err != nil {
		return wanted, usageError{fmt.Errorf("%s: %w", file, err)}
	}
	for _, note := range notes {
		_, _ = fmt.Fprintf(c.errOut, "%s line %d: %s\n", file, note.Line, note.Text)
	}
	return wanted, nil
}

// apply makes the changes. What was made and whose credentials are new is told also where it breaks off.
func (r *setupReport) apply(ctx context.Context, in *installation, changes []setup.Change) error {
	if err := r.openCredentials(changes); err != nil {
		return err
	}
	skipped, err := setup.Apply(ctx, in, changes, r.done)
	for _, s := range skipped {
		r.Skipped = append(r.Skipped, changeLine{string(s.Change.Action), s.Change.What})
	}
	if err := r.finish(false, err); err != nil {
		return errors.New(err.Error()) // the whole of it: what a server said is not enough
	}
	if len(skipped) > 0 {
		return fmt.Errorf("%d of %d changes were not made, because what they are on is not there yet (%s): apply the file again when it is",
			len(skipped), len(changes), skipped[0].Change.Grant.Object(skipped[0].Change.Catalog))
	}
	return nil
}
