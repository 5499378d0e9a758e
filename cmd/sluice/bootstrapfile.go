package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The files in the data folder that hold secrets, both of mode 0600.
const (
	// bootstrapName exists while everything works, with the current addresses: scripts wait for it. After a kill it is
	// left behind, and then it is believed no more: see runningServe.
	bootstrapName = "bootstrap.json"
	// credentialsName keeps the root secrets over restarts; the database has only their hashes.
	credentialsName = "credentials.json"
)

// bootstrapFile is what scripts read to find and use a running serve. Its form is a contract.
type bootstrapFile struct {
	CatalogURI      string `json:"catalogUri"`
	ManagementURI   string `json:"managementUri"`
	GovernanceURI   string `json:"governanceUri"`
	DataURI         string `json:"dataUri"`
	ConsoleURI      string `json:"consoleUri"`
	TemporalAddress string `json:"temporalAddress"`
	TemporalUIURI   string `json:"temporalUiUri"`
	S3Endpoint      string `json:"s3Endpoint,omitempty"` // of the local warehouse
	Catalog         string `json:"catalog"`
	Principal       string `json:"principal"`
	rootCredentials
}

// rootCredentials are the secrets of the root principal.
type rootCredentials struct {
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
	Token        string `json:"token"`
}

// newBootstrapFile gives the addresses under base, such as http://127.0.0.1:8181.
func newBootstrapFile(base string) bootstrapFile {
	return bootstrapFile{
		CatalogURI:    base + "/api/catalog",
		ManagementURI: base + "/api/management/v1",
		GovernanceURI: base + governancePath,
		DataURI:       base + "/data/v1",
		ConsoleURI:    base + "/console",
	}
}

func readBootstrapFile(folder string) (bootstrapFile, error) {
	var b bootstrapFile
	path := filepath.Join(folder, bootstrapName)
	data, err := os.ReadFile(path) //nolint:gosec // in the folder the user named
	if err != nil {
		return b, err
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return b, fmt.Errorf("%s is damaged: restart `sluice serve`, which writes it anew", path)
	}
	return b, nil
}

// runningServe gives the addresses and credentials of the serve that runs on the folder. Whoever has the port of one
// that was killed must not be sent root's token, so that the file counts only while the lock is held.
func runningServe(folder string) (bootstrapFile, error) {
	if !folderInUse(folder) {
		return bootstrapFile{}, fmt.Errorf("no `sluice serve` runs on %s", folder)
	}
	b, err := readBootstrapFile(folder)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("`sluice serve` on %s is still starting, or stopping", folder)
	}
	return b, err
}

// credentials gives the root secrets of an earlier start; ok is false when there are none.
func (d *dataFolder) credentials() (creds rootCredentials, ok bool, err error) {
	ok, err = d.readJSON(credentialsName, "run `sluice root reset-credentials` with the same --data", &creds)
	return creds, ok, err
}

func (d *dataFolder) saveCredentials(creds rootCredentials) error {
	return writeJSONFile(d.file(credentialsName), creds)
}

// withdraw removes bootstrap.json, whose addresses are not yet, or no more, those of a running serve. Its secrets are
// kept where the file of their own was lost.
func (d *dataFolder) withdraw() error {
	old, err := readBootstrapFile(d.path)
	if err == nil && old.ClientSecret != "" {
		if _, kept, err := d.credentials(); err == nil && !kept {
			if err := d.saveCredentials(old.rootCredentials); err != nil {
				return err
			}
		}
	}
	if err := os.Remove(d.file(bootstrapName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable(d.path, err)
	}
	return nil
}
