package management

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	maxPropertiesBytes = 64 << 10
	// platformName is whom the audit names for what Sluice does by itself: nobody else may be called that.
	platformName = "sluice"
	// baseLocationKey is what clients call a catalog's base location; it is kept in a column of its own.
	baseLocationKey = "default-base-location"
)

// checkName refuses names that are none: see models.NameFlaw.
// what says what the name is of, such as "principal role".
func checkName(what, name string) error {
	if name == "" {
		return fault.New(fault.Invalid, "The %s needs a name.", what)
	}
	if flaw := models.NameFlaw(name); flaw != "" {
		return fault.New(fault.Invalid, "The name %.300q of the %s %s. Choose another.", name, what, flaw)
	}
	return nil
}

func checkPrincipalName(name string) error {
	if name == platformName {
		return fault.New(fault.Invalid, "A principal cannot be called %q: the audit names so what the server does by itself. Choose another name.", name)
	}
	return checkName("principal", name)
}

// checkCatalogName adds to checkName what a configured catalog's name must heed: a ref takes what is before its first
// dot for the catalog, and routes begin with some names.
func checkCatalogName(name string) error {
	if err := checkName("catalog", name); err != nil {
		return err
	}
	if strings.ContainsAny(name, "./") || strings.ContainsFunc(name, unicode.IsSpace) {
		return fault.New(fault.Invalid, "The name %q of the catalog has a dot, a slash or a space. Choose one without.", name)
	}
	if name == "v1" || name == "namespaces" {
		return fault.New(fault.Invalid, "The catalog cannot be called %q, because routes begin so. Choose another name.", name)
	}
	return nil
}

// checkProperties bounds what anybody may have kept for them, and loaded with every listing.
func checkProperties(properties map[string]string) error {
	size := 0
	for key, value := range properties {
		if key == "" {
			return fault.New(fault.Invalid, "A property needs a name.")
		}
		size += len(key) + len(value)
	}
	if size > maxPropertiesBytes {
		return fault.New(fault.Invalid, "The properties have more than %d bytes in all. Keep less in them.", maxPropertiesBytes)
	}
	return nil
}

// keptProperties is the properties as they are stored; what has a place of its own is not kept twice.
func keptProperties(properties map[string]string) models.JSON[map[string]string] {
	kept := map[string]string{}
	maps.Copy(kept, properties)
	return models.JSON[map[string]string]{V: kept}
}

const (
	minSecret   = 32
	maxSecret   = 1024
	maxClientID = 64
)

// checkCredentials refuses chosen credentials that could be guessed or that a form could not carry; empty ones are
// made up. Only the SHA-256 of a secret is kept, which is no protection for a short one.
func checkCredentials(c Credentials) error {
	if c.ClientID != "" && (len(c.ClientID) > maxClientID || strings.ContainsFunc(c.ClientID, notInClientID)) {
		return fault.New(fault.Invalid, "A client id has 1 to %d letters, digits, hyphens and underscores.", maxClientID)
	}
	if c.ClientSecret == "" {
		return nil
	}
	if len(c.ClientSecret) < minSecret || len(c.ClientSecret) > maxSecret {
		return fault.New(fault.Invalid, "A client secret has %d to %d characters. Leave it out to have one made.", minSecret, maxSecret)
	}
	if strings.ContainsFunc(c.ClientSecret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fault.New(fault.Invalid, "A client secret has printable ASCII characters without spaces alone. Leave it out to have one made.")
	}
	return nil
}

func notInClientID(r rune) bool {
	return !isLetterOrDigit(r) && r != '-' && r != '_'
}

func isLetterOrDigit(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// staleVersion is the answer to a change of something that was changed since it was read.
func staleVersion(what, name string, is, given int64) error {
	return fault.New(fault.Conflict, "Failed to update %s %s: its version is %d, not %d: read it again.", what, name, is, given)
}

func builtIn(what, name string) bool {
	return slices.Contains([][2]string{
		{"principal", models.RootPrincipal}, {"principal role", models.ServiceAdminRole}, {"catalog role", models.CatalogAdminRole},
	}, [2]string{what, name})
}

// refuseBuiltIn keeps the ways by which an installation is administered.
func refuseBuiltIn(what, name, verb string) error {
	if !builtIn(what, name) {
		return nil
	}
	return fault.New(fault.Invalid, "The %s %s cannot be %s: without it nobody could administer the installation.", what, name, verb)
}
