package models

import "time"

// StorageStep is one thing that was tried of a catalog's object store.
type StorageStep struct {
	Name    string
	OK      bool
	Skipped bool   // it was not tried; OK is true, and Detail says why
	Detail  string // a sentence: what works, or what does not and why
	Took    time.Duration
}
