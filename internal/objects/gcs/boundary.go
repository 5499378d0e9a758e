package gcs

import (
	"slices"
	"strings"

	"golang.org/x/oauth2/google/downscope"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

// The roles whose permissions are the bounds of what a token may do.
const (
	reader  = "inRole:roles/storage.objectViewer"       // get and list objects
	creator = "inRole:roles/storage.objectCreator"      // create objects that are not there yet: replacing one takes deleting it
	writer  = "inRole:roles/storage.legacyBucketWriter" // create, replace and delete objects
)

// Google's bounds of a boundary.
const (
	maxRules      = 10
	maxExpression = 2048 // characters
)

// boundary says what a token opens: each folder, with its slash so that a neighbour of the same beginning is not in it.
//
//	Read                  objects.get below the folder; objects.list of prefixes that begin with it
//	Write                 objects.create below it
//	Overwrite and Delete  objects.create and objects.delete below it; one without the other cannot be said, and gives neither
//
// A listing's prefix must end with the folder's slash, or go on after it.
func boundary(access models.StorageAccess) ([]downscope.AccessBoundaryRule, error) {
	open, err := objects.Openings(access)
	if err != nil {
		return nil, err
	}
	var rules []downscope.AccessBoundaryRule
	add := func(o objects.Opening, role string, conditions ...string) {
		resource, expression := "//storage.googleapis.com/projects/_/buckets/"+o.At.Bucket(), strings.Join(conditions, " || ")
		same := slices.IndexFunc(rules, func(r downscope.AccessBoundaryRule) bool {
			return r.AvailableResource == resource && r.AvailablePermissions[0] == role
		})
		if same >= 0 {
			rules[same].Condition.Expression += " || " + expression
			return
		}
		rules = append(rules, downscope.AccessBoundaryRule{
			AvailableResource:    resource,
			AvailablePermissions: []string{role},
			Condition:            &downscope.AvailabilityCondition{Expression: expression},
		})
	}
	for _, o := range open {
		if !o.At.IsGCS() {
			return nil, fault.New(fault.Forbidden, "Location %s is not in Google Cloud Storage.", o.At)
		}
		if o.Read {
			add(o, reader, below(o.At), listedBelow(o.At))
		}
		switch {
		case o.Overwrite && o.Delete:
			add(o, writer, below(o.At))
		case o.Write:
			add(o, creator, below(o.At))
		}
	}
	for _, r := range rules {
		if len(rules) > maxRules || len(r.Condition.Expression) > maxExpression {
			return nil, fault.New(fault.Unprocessable, "The files of table %s lie in more folders, or longer ones, than a key of Google Cloud Storage can name. Keep them below the table's location.", access.Table)
		}
	}
	return rules, nil
}

func below(at objects.Location) string {
	return "resource.name.startsWith(" + literal("projects/_/buckets/"+at.Bucket()+"/objects/"+at.Key()+"/") + ")"
}

func listedBelow(at objects.Location) string {
	return "api.getAttribute('storage.googleapis.com/objectListPrefix', '').startsWith(" + literal(at.Key()+"/") + ")"
}

// literal quotes a string for the expression language (CEL). Locations have no control characters.
func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
