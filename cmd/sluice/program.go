package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// programName is how this program is called again in a shell: as it was called, or by `go run` when it was built for
// one run and has no place of its own.
func programName(called string) string {
	path, err := os.Executable()
	if err != nil {
		path = called
	}
	if isPassing(path) {
		return "go run ./cmd/sluice"
	}
	if !strings.ContainsRune(called, filepath.Separator) {
		return "sluice" // found by PATH
	}
	return shellWord(called)
}

// isPassing tells whether Go made the executable for a run: in its folder for temporary builds or in its cache, where
// it is named by a hash.
func isPassing(path string) bool {
	return regexp.MustCompile(`/go-build[0-9]*/|/[0-9a-f]{2}/[0-9a-f]{64}-d/`).MatchString(filepath.ToSlash(path))
}

// shellWord quotes text that a shell would not take as one word.
func shellWord(text string) string {
	if regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`).MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
