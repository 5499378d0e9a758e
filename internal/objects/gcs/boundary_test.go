package gcs

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2/google/downscope"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// No server for tests enforces a boundary. These tests read the document as Google describes it: evaluate knows the two
// forms of condition that Sluice writes and nothing else, so that a third fails the test.

var (
	t1        = []models.StorageArea{{Prefix: "gs://lake/wh/t1"}, {Prefix: "gs://lake/wh/t1/metadata", Metadata: true}}
	all       = models.StorageRights{ReadData: true, ReadMetadata: true, Write: true, Overwrite: true, Delete: true}
	reads     = models.StorageRights{ReadData: true, ReadMetadata: true}
	appends   = models.StorageRights{ReadData: true, ReadMetadata: true, Write: true}
	writeOnly = models.StorageRights{ReadMetadata: true, Write: true}
)

// roles is what Google's roles allow on objects, of what Sluice's document uses.
func roles(t *testing.T, role string) []string {
	t.Helper()
	switch role {
	case "inRole:roles/storage.objectViewer":
		return []string{"get", "list"}
	case "inRole:roles/storage.objectCreator":
		return []string{"create"}
	case "inRole:roles/storage.legacyBucketWriter":
		return []string{"create", "delete", "list"}
	}
	require.Fail(t, "unknown role", role)
	return nil
}

// allows tells whether a boundary lets a permission be used: on an object, or for list with a prefix on the bucket.
func allows(t *testing.T, rules []downscope.AccessBoundaryRule, permission, bucket, name string) bool {
	t.Helper()
	resource, listed := "projects/_/buckets/"+bucket+"/objects/"+name, ""
	if permission == "list" {
		resource, listed = "projects/_/buckets/"+bucket, name
	}
	for _, r := range rules {
		require.NotNil(t, r.Condition)
		if r.AvailableResource == "//storage.googleapis.com/projects/_/buckets/"+bucket &&
			slices.ContainsFunc(r.AvailablePermissions, func(role string) bool { return slices.Contains(roles(t, role), permission) }) &&
			evaluate(t, r.Condition.Expression, resource, listed) {
			return true
		}
	}
	return false
}

// evaluate reads one or more terms joined by ||: X.startsWith('…') of the resource's name or the listing's prefix.
func evaluate(t *testing.T, expression, resource, listed string) bool {
	t.Helper()
	holds := false
	for rest := expression; ; {
		var subject string
		if after, found := strings.CutPrefix(rest, "resource.name.startsWith('"); found {
			subject, rest = resource, after
		} else {
			after, found := strings.CutPrefix(rest, "api.getAttribute('storage.googleapis.com/objectListPrefix', '').startsWith('")
			require.True(t, found, "of another form: %s", rest)
			subject, rest = listed, after
		}
		var prefix strings.Builder
		i := 0
		for ; rest[i] != '\''; i++ {
			if rest[i] == '\\' {
				i++
				require.Contains(t, `\'`, string(rest[i]))
			}
			prefix.WriteByte(rest[i])
		}
		holds = holds || strings.HasPrefix(subject, prefix.String())
		require.Equal(t, byte(')'), rest[i+1])
		if rest = rest[i+2:]; rest == "" {
			return holds
		}
		var more bool
		rest, more = strings.CutPrefix(rest, " || ")
		require.True(t, more, rest)
	}
}

func rulesOf(t *testing.T, areas []models.StorageArea, rights models.StorageRights) []downscope.AccessBoundaryRule {
	t.Helper()
	rules, err := boundary(models.StorageAccess{Table: "ns.t1", Areas: areas, Rights: rights})
	require.NoError(t, err)
	return rules
}

// did gives the letters of what a boundary lets be done at a name: get, create, delete, list.
func did(t *testing.T, rules []downscope.AccessBoundaryRule, bucket, name string) string {
	t.Helper()
	letters := ""
	for _, permission := range []string{"get", "create", "delete", "list"} {
		if allows(t, rules, permission, bucket, name) {
			letters += permission[:1]
		}
	}
	return letters
}

func TestABoundaryOpensNothingButItsTable(t *testing.T) {
	rules := rulesOf(t, t1, all)
	assert.Equal(t, "gcdl", did(t, rules, "lake", "wh/t1/data/a"))
	assert.Equal(t, "gcdl", did(t, rules, "lake", "wh/t1/metadata/m"))
	assert.Equal(t, "gcdl", did(t, rules, "lake", "wh/t1/"), "the listing of all the table")
	for _, name := range []string{
		"", "wh", "wh/", "wh/t", "wh/t1", "wh/t10", "wh/t10/", "wh/t10/data/a", "wh/t1x", "wh/t1%2Fdata/a", "wh//t1/data/a", "/wh/t1/data/a", "x/wh/t1/data/a",
		"WH/t1/data/a", "wh/t1\\data", "u/wh/t1/a",
	} {
		assert.Empty(t, did(t, rules, "lake", name), name)
	}
	assert.Empty(t, did(t, rules, "other", "wh/t1/data/a"), "the same folder of another bucket")
	assert.Empty(t, did(t, rules, "lake2", "wh/t1/data/a"))
}

func TestABoundaryAllowsWhatThePolicyDoes(t *testing.T) {
	for name, c := range map[string]struct {
		rights         models.StorageRights
		data, metadata string
	}{
		"reading":                           {reads, "gl", "gl"},
		"appending":                         {appends, "gcl", "gcl"}, // a create that would replace takes delete too
		"everything":                        {all, "gcdl", "gcdl"},
		"writing alone":                     {writeOnly, "c", "gcl"},
		"replacing without deleting":        {models.StorageRights{Write: true, Overwrite: true, ReadMetadata: true}, "c", "gcl"},
		"metadata alone":                    {models.StorageRights{ReadMetadata: true}, "", "gl"},
		"everything without reading data":   {models.StorageRights{ReadMetadata: true, Write: true, Overwrite: true, Delete: true}, "cd", "gcdl"},
		"nothing, and there is no document": {models.StorageRights{}, "", ""},
	} {
		rules := rulesOf(t, t1, c.rights)
		// The writer's role may list; its condition names objects alone, and a listing's resource is the bucket.
		assert.Equal(t, c.data, did(t, rules, "lake", "wh/t1/data/a"), name)
		assert.Equal(t, c.metadata, did(t, rules, "lake", "wh/t1/metadata/m"), name)
	}
	assert.Empty(t, rulesOf(t, t1, models.StorageRights{}))
}

func TestABoundaryQuotesWhatNamesHave(t *testing.T) {
	for _, folder := range []string{`it's`, `'`, `') || resource.name.startsWith('`, `ü/日本`, `a"b`, `p=a%2Fb`, `${x}`, `*`} {
		rules := rulesOf(t, []models.StorageArea{{Prefix: "gs://lake/" + folder + "/t1"}}, reads)
		assert.Equal(t, "gl", did(t, rules, "lake", folder+"/t1/a"), folder)
		assert.Empty(t, did(t, rules, "lake", folder+"/t10/a"), folder)
		assert.Empty(t, did(t, rules, "lake", "elsewhere"), folder)
	}
	assert.Equal(t, `'a\'b\\c'`, literal(`a'b\c`))
}

func TestABoundaryKeepsToGooglesBounds(t *testing.T) {
	long := strings.Repeat("x", 200)
	var many, buckets []models.StorageArea
	for _, c := range "abcdefghijk" {
		many = append(many, models.StorageArea{Prefix: "gs://lake/" + string(c) + long})
		buckets = append(buckets, models.StorageArea{Prefix: "gs://lake-" + string(c) + "/wh"})
	}
	for name, areas := range map[string][]models.StorageArea{"a long condition": many, "many rules": buckets} {
		_, err := boundary(models.StorageAccess{Table: "ns.t1", Areas: areas, Rights: reads})
		assert.True(t, fault.Is(err, fault.Unprocessable), "%s: %v", name, err)
	}
	_, err := boundary(models.StorageAccess{Table: "ns.t1", Areas: []models.StorageArea{{Prefix: "gs://lake"}}, Rights: reads})
	assert.True(t, fault.Is(err, fault.Unprocessable), "a whole bucket: %v", err)
	_, err = boundary(models.StorageAccess{Table: "ns.t1", Areas: []models.StorageArea{{Prefix: "s3://lake/wh"}}, Rights: reads})
	assert.True(t, fault.Is(err, fault.Forbidden), "%v", err)
}

// The document as it is sent, for an eye to read. It is written anew with SLUICE_UPDATE_GOLDEN=1.
func TestBoundaryDocuments(t *testing.T) {
	for name, rights := range map[string]models.StorageRights{"read": reads, "append": appends, "full": all, "write-only": writeOnly} {
		got, err := json.MarshalIndent(rulesOf(t, t1, rights), "", "  ")
		require.NoError(t, err)
		path := "testdata/boundary-" + name + ".json"
		if os.Getenv("SLUICE_UPDATE_GOLDEN") != "" {
			require.NoError(t, os.WriteFile(path, append(got, '\n'), 0o600))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.JSONEq(t, string(want), string(got), name)
	}
}
