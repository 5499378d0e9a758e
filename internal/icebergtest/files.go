package icebergtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/iceberg-go"
)

// LocalFiles is a Writer on this machine's folders, for file: locations.
func LocalFiles() Writer {
	return Writer{
		Put: func(location string, data []byte) error {
			path := LocalPath(location)
			if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
				return err
			}
			return os.WriteFile(path, data, 0o600)
		},
		Get: func(location string) ([]byte, error) { return os.ReadFile(LocalPath(location)) },
	}
}

// LocalPath gives the path of a file: location.
func LocalPath(location string) string {
	return strings.TrimPrefix(strings.TrimPrefix(location, "file:"), "//")
}

// LiveFiles gives the data files that a manifest list keeps, as often as its manifests name them.
func (w Writer) LiveFiles(list string) ([]string, error) {
	manifests, err := w.Manifests(list)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, m := range manifests {
		raw, err := w.Get(m.FilePath())
		if err != nil {
			return nil, err
		}
		entries, err := iceberg.ReadManifest(m, bytes.NewReader(raw), true)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.FilePath(), err)
		}
		for _, e := range entries {
			files = append(files, e.DataFile().FilePath())
		}
	}
	return files, nil
}
