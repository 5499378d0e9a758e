package product

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// BinaryVariable names the environment variable that gives a built program to use instead of building one.
const BinaryVariable = "SLUICE_E2E_BINARY"

// Build builds the program into folder and gives its path.
func Build(ctx context.Context, folder string) (string, error) {
	if path := os.Getenv(BinaryVariable); path != "" {
		return filepath.Abs(path)
	}
	if err := noteSources(ctx); err != nil {
		return "", err
	}
	path := filepath.Join(folder, "sluice")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/sluice-data/sluice/cmd/sluice").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
}

// noteSources reads the folders of the sources: what a test reads goes into the key of its cached result, and what the
// compiler reads for it does not. Without it, go test would take the result of another program's run.
func noteSources(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	root := strings.TrimSpace(string(out))
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "e2e") {
			return fs.SkipDir
		}
		return err
	})
}
