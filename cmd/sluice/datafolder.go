package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/telemetry"
)

// folderFormat is the layout of the data folder that this program reads and writes.
const folderFormat = 1

// databaseName is the embedded database in the data folder.
const databaseName = "sluice.db"

// lockName is the file that a running serve holds locked.
const lockName = "lock"

// How long the lock is asked for: a tenth of a second in all.
const (
	lockAttempts = 5
	lockPause    = 20 * time.Millisecond
)

// dataFolder is serve's folder, locked for this process.
type dataFolder struct {
	path string // absolute: parts of the process may change the working directory
	lock *os.File
}

func (d *dataFolder) databaseURL() string  { return "sqlite://" + filepath.Join(d.path, databaseName) }
func (d *dataFolder) warehouse() string    { return "file://" + filepath.Join(d.path, "warehouse") }
func (d *dataFolder) temporalDir() string  { return filepath.Join(d.path, "temporal") }
func (d *dataFolder) file(n string) string { return filepath.Join(d.path, n) }

// existingFolder gives a data folder that has a database, without locking it.
func existingFolder(path string) (*dataFolder, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "the data folder %q has no absolute path", path)
	}
	d := &dataFolder{path: absolute}
	if _, err := os.Stat(d.file(databaseName)); err != nil {
		return nil, fault.New(fault.NotFound, "there is no %s: name serve's folder with --data", filepath.Join(path, databaseName))
	}
	return d, nil
}

// release lets another process use the folder.
func (d *dataFolder) release() { _ = d.lock.Close() }

// openDataFolder makes the folder where it is missing, locks it, and checks that this program may use it. It changes
// nothing in a folder that it refuses.
func openDataFolder(path string) (*dataFolder, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "the data folder %q has no absolute path", path)
	}
	if err := os.MkdirAll(absolute, 0o700); err != nil {
		return nil, unusable(absolute, err)
	}
	d := &dataFolder{path: absolute}
	if d.lock, err = lockFile(d.file(lockName), absolute); err != nil {
		return nil, err
	}
	if err := d.checkFormat(); err != nil {
		d.release()
		return nil, err
	}
	return d, nil
}

// lockFile takes the lock, which the kernel gives back however this process ends.
func lockFile(path, folder string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // in the folder the operator named
	if err != nil {
		return nil, unusable(folder, err)
	}
	// Who only asks whether the folder is in use has the lock for a moment too.
	for range lockAttempts {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) //nolint:gosec // a file descriptor fits
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(lockPause)
	}
	if err == nil {
		return f, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fault.New(fault.Unavailable, "the data folder %s is in use by another sluice: stop it, or name another folder with --data", folder)
	}
	return nil, unusable(folder, err)
}

// versionName is the file that says which format the folder has.
const versionName = "version"

// folderVersion is its content.
type folderVersion struct {
	Format    int    `json:"format"`
	CreatedBy string `json:"createdBy"`
}

// checkFormat refuses a folder of another format, and marks a new one.
func (d *dataFolder) checkFormat() error {
	if _, err := os.Stat(d.file(versionName)); errors.Is(err, fs.ErrNotExist) {
		return writeJSONFile(d.file(versionName), folderVersion{Format: folderFormat, CreatedBy: telemetry.ReadBuild().Version})
	}
	return d.checkKnownFormat()
}

func (d *dataFolder) checkKnownFormat() error {
	path := d.file(versionName)
	data, err := os.ReadFile(path) //nolint:gosec // in the folder the operator named
	if err != nil {
		return unusable(d.path, err)
	}
	var found folderVersion
	if err := json.Unmarshal(data, &found); err != nil || found.Format < 1 {
		return fault.New(fault.Unprocessable, "%s does not say which format the data folder has: restore it from a backup, or name another folder with --data", path)
	}
	if found.Format > folderFormat {
		return fault.New(fault.Unprocessable, "the data folder %s has format %d and this sluice knows format %d: use the newer sluice that wrote it, or name another folder with --data",
			d.path, found.Format, folderFormat)
	}
	return nil
}

// readJSON reads a file of the folder; found is false when there is none. remedy says what to do about a damaged one.
func (d *dataFolder) readJSON(name, remedy string, into any) (found bool, err error) {
	data, err := os.ReadFile(d.file(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, unusable(d.path, err)
	case json.Unmarshal(data, into) != nil:
		return false, d.damaged(name, remedy)
	}
	return true, nil
}

func (d *dataFolder) damaged(name, remedy string) error {
	return fault.New(fault.Unprocessable, "%s is damaged: %s", d.file(name), remedy)
}

// writeJSONFile replaces a file of mode 0600 as a whole and makes it durable.
func writeJSONFile(path string, content any) error {
	data, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return unusable(filepath.Dir(path), err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return unusable(filepath.Dir(path), err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return unusable(filepath.Dir(path), err)
	}
	return nil
}

// unusable says in one sentence what the file system said.
func unusable(folder string, err error) error {
	advice := "check that it exists and that you may write in it, or name another folder with --data"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		advice = "make room, or name a folder on another disk with --data"
	case errors.Is(err, syscall.ENOTDIR):
		advice = "it, or a part of its path, is a file: name another folder with --data"
	}
	var cause string
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		cause = errno.Error()
	} else {
		cause = fmt.Sprint(err)
	}
	return fault.New(fault.Unavailable, "the data folder %s cannot be used (%s): %s", folder, cause, advice)
}
