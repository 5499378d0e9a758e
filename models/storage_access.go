package models

import (
	"fmt"
	"log/slog"
)

// StorageRights is what somebody may do with the files of one table. internal/policy says who may what.
type StorageRights struct {
	ReadData     bool // get and list the table's data files
	ReadMetadata bool // get and list its metadata files
	Write        bool // put objects that are not there yet, multipart uploads included
	Overwrite    bool // put objects in the place of others; never without Write
	Delete       bool // delete objects; never without Overwrite
}

// Any tells whether there is any right at all.
func (r StorageRights) Any() bool { return r.ReadData || r.ReadMetadata || r.Write }

// StorageArea is a location below which files of a table lie.
type StorageArea struct {
	Prefix   string // normalised, without a slash at its end; compared by whole path segments
	Metadata bool   // it holds metadata files; others hold data, and metadata where an area lies within them
}

// StorageAccess is a table's files with the rights on them. Where areas lie within one another, the innermost says what a
// file is.
type StorageAccess struct {
	Table  string // dotted name, for messages
	Areas  []StorageArea
	Rights StorageRights
}

// StorageSecrets are what Sluice itself reaches an object store with. They are sealed at rest, and print as the names of
// those that are there.
type StorageSecrets struct {
	AccessKey    string `json:"accessKey,omitempty"`    // S3
	SecretKey    string `json:"secretKey,omitempty"`    // S3
	AccountKey   string `json:"accountKey,omitempty"`   // Azure
	ClientID     string `json:"clientId,omitempty"`     // Azure
	ClientSecret string `json:"clientSecret,omitempty"` // Azure
	ServiceKey   string `json:"serviceKey,omitempty"`   // GCS: the JSON of a service account
	// SessionToken goes with S3 keys that are themselves temporary, as those of an instance's role are. It is never kept.
	SessionToken string `json:"-"`
}

// Names gives the names of the secrets that are there, as they are called in JSON.
func (s StorageSecrets) Names() []string {
	names := []string{}
	for _, secret := range []struct{ name, value string }{
		{"accessKey", s.AccessKey}, {"secretKey", s.SecretKey}, {"accountKey", s.AccountKey},
		{"clientId", s.ClientID}, {"clientSecret", s.ClientSecret}, {"serviceKey", s.ServiceKey},
	} {
		if secret.value != "" {
			names = append(names, secret.name)
		}
	}
	return names
}

// Format implements fmt.Formatter, so that no verb and no logger prints a secret.
func (s StorageSecrets) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "storage secrets%v", s.Names())
}

// LogValue keeps the secrets out of logs, which may be JSON.
func (s StorageSecrets) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(s)) }
