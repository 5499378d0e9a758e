package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// usageError marks an invocation that is wrong as it was typed.
type usageError struct{ error }

// Unwrap gives what is wrong with it.
func (u usageError) Unwrap() error { return u.error }

// refused is the server's no, in its own words.
type refused struct {
	message string
	kind    string // such as ForbiddenException
	status  int    // HTTP
	rows    []rowProblem
}

// rowProblem is what is wrong with a row that was to be written.
type rowProblem struct {
	Row     int64  `json:"row"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// Error gives the server's sentence and its status, and a line for each thing that is wrong with a row.
func (r *refused) Error() string {
	said := fmt.Sprintf("%s (HTTP %d)", r.message, r.status)
	for _, e := range r.rows {
		where := fmt.Sprintf("row %d", e.Row)
		if e.Field != "" {
			where += ", " + e.Field
		}
		said += "\n  " + printable(where+": "+e.Message)
	}
	return said
}

// complaint is an error as -o json prints it.
type complaint struct {
	Message    string `json:"message"`
	Type       string `json:"type"` // UsageError, Failure, or the server's
	HTTPStatus int    `json:"httpStatus,omitempty"`

	Errors []rowProblem `json:"errors,omitempty"` // of rows
}

// complain tells on standard error what went wrong and gives the exit code.
func (c *cli) complain(err error, args []string) int {
	if _, no := errors.AsType[noError](err); no {
		return exitFailed
	}
	told, code := complaint{Message: sentence(err), Type: "Failure"}, exitFailed
	if _, usage := errors.AsType[usageError](err); usage {
		told.Type, code = "UsageError", exitUsage
	}
	if no, ok := errors.AsType[*refused](err); ok {
		told.Message, told.Type, told.HTTPStatus, told.Errors = no.message, no.kind, no.status, no.rows
	}
	if c.format == formatJSON || asksForJSON(args) {
		e := json.NewEncoder(c.errOut)
		e.SetEscapeHTML(false)
		_ = e.Encode(map[string]complaint{"error": told})
		return code
	}
	_, _ = fmt.Fprintln(c.errOut, "sluice: "+sentence(err))
	return code
}

// asksForJSON looks at the command line itself: where it is wrong, its flags may not have been read.
func asksForJSON(args []string) bool {
	for i, arg := range args {
		switch arg {
		case "--":
			return false
		case "-ojson", "-o=json", "--output=json":
			return true
		case "-o", "--output":
			return i+1 < len(args) && args[i+1] == formatJSON
		}
	}
	return false
}

// usageArgs makes a wrong number of arguments a usage error that says which are missing or too many.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) == nil {
			return nil
		}
		return usageError{fmt.Errorf("%s; the form is: %s", miscounted(strings.Fields(cmd.Use)[1:], args), cmd.UseLine())}
	}
}

func miscounted(wanted, args []string) string {
	if len(args) > len(wanted) {
		return fmt.Sprintf("%q is one argument too many", args[len(wanted)])
	}
	optional := func(word string) bool { return strings.HasPrefix(word, "[") }
	missing := slices.DeleteFunc(slices.Clone(wanted[len(args):]), optional)
	if len(missing) == 1 {
		return missing[0] + " is missing"
	}
	return strings.Join(missing, " and ") + " are missing"
}

// onlyCommands refuses what is neither a command nor a flag.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	near := cmd.SuggestionsFor(args[0])
	if len(near) > 0 {
		slices.Sort(near)
		return usageError{fmt.Errorf("unknown command %q for %q: did you mean `%s %s`?", args[0], cmd.CommandPath(), cmd.CommandPath(), strings.Join(near, "` or `"+cmd.CommandPath()+" "))}
	}
	return usageError{fmt.Errorf("unknown command %q for %q: `%s --help` lists them", args[0], cmd.CommandPath(), cmd.CommandPath())}
}

// flagError prefers to tell of a mistyped command, whose flags of course are unknown.
func flagError(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() {
		if wrong := onlyCommands(cmd, cmd.Flags().Args()); wrong != nil {
			return wrong
		}
	}
	return usageError{err}
}
