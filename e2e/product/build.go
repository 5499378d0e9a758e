package product

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// BinaryVariable names the environment variable that gives a built program to use instead of building one.
const BinaryVariable = "SLUICE_E2E_BINARY"

// Build builds the program into folder and gives its path.
func Build(ctx context.Context, folder string) (string, error) {
	if path := os.Getenv(BinaryVariable); path != "" {
		return filepath.Abs(path)
	}
	path := filepath.Join(folder, "sluice")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/sluice-data/sluice/cmd/sluice").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
}
