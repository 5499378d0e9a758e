package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/sluice-data/sluice/internal/setup"
)

// changeLine is one line of a diff.
type changeLine struct {
	Action string `json:"action"` // +, ~ or -
	What   string `json:"what"`
}

// setupReport tells what setup apply does.
type setupReport struct {
	Changes     []changeLine                 `json:"changes"` // in their order
	Made        int                          `json:"made"`
	Skipped     []changeLine                 `json:"skipped,omitempty"`
	Credentials map[string]setup.Credentials `json:"credentials,omitempty"` // of new principals, where no file is to have them

	cli             *cli
	credentialsFile string
	file            *os.File
	unwritten       bool // the file lacks credentials
	created         map[string]setup.Credentials
}

// openCredentials makes the file for credentials before there are any, because they are shown once.
func (r *setupReport) openCredentials(changes []setup.Change) error {
	r.created = map[string]setup.Credentials{}
	creates := slices.ContainsFunc(changes, func(c setup.Change) bool { return c.Kind == setup.OfPrincipal && c.Action == setup.Add })
	if r.credentialsFile == "" || !creates {
		return nil
	}
	var err error
	r.file, err = os.OpenFile(filepath.Clean(r.credentialsFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usageError{fmt.Errorf("%s is there already: name a new file for the credentials", r.credentialsFile)}
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written, and nothing was changed: %w", r.credentialsFile, err)
	}
	return nil
}

// done takes down a change that was made.
func (r *setupReport) done(c setup.Change, creds *setup.Credentials) error {
	r.Made++
	if creds == nil {
		return nil
	}
	r.created[c.Principal] = *creds
	if r.file == nil {
		return nil
	}
	data, err := json.MarshalIndent(r.created, "", "  ") //nolint:gosec // credentials are what the file is for
	if err == nil {
		_, err = r.file.WriteAt(append(data, '\n'), 0) // each is longer than the one before
	}
	r.unwritten = err != nil
	return err
}

// finish tells what was done. failure, if any, is what ended it, and is returned.
func (r *setupReport) finish(dryRun bool, failure error) error {
	if r.file != nil {
		if err := r.file.Close(); err != nil {
			failure, r.unwritten = errors.Join(failure, err), true
		}
	}
	inFile := r.file != nil && !r.unwritten
	if !inFile {
		r.Credentials = r.created
	}
	if r.cli.format == formatJSON {
		if r.Changes == nil {
			r.Changes = []changeLine{}
		}
		return errors.Join(failure, r.cli.showJSON(r))
	}
	for _, s := range r.Skipped {
		r.cli.say("not made: %s %s\n", s.Action, printable(s.What))
	}
	switch {
	case len(r.Changes) == 0:
		r.cli.say("Nothing to change.\n")
	case dryRun:
		r.cli.say("Changes to make: %d. Nothing was done.\n", len(r.Changes))
	default:
		r.cli.say("Changes made: %d of %d.\n", r.Made, len(r.Changes))
	}
	if inFile && len(r.created) > 0 {
		r.cli.say("The credentials of new principals are in %s.\n", r.credentialsFile)
	}
	for i, name := range slices.Sorted(maps.Keys(r.Credentials)) {
		if i == 0 {
			r.cli.say("Credentials of new principals, shown this once:\n")
		}
		r.cli.say("  %s  client id %s  client secret %s\n", printable(name), printable(r.Credentials[name].ClientID), printable(r.Credentials[name].ClientSecret))
	}
	return failure
}
