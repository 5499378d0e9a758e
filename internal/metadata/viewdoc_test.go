package metadata_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

const viewUUID = "fa6506c3-7681-40c8-86dc-e36561f83385"

func goldenView(t testing.TB) *metadata.ViewDocument {
	t.Helper()
	raw, err := os.ReadFile("testdata/view.json")
	require.NoError(t, err)
	doc, err := metadata.ParseView(raw)
	require.NoError(t, err)
	return doc
}

func decodeView(t testing.TB, updates ...string) []metadata.ViewUpdate {
	t.Helper()
	decoded, err := metadata.DecodeViewUpdates(messages(updates...))
	require.NoError(t, err)
	return decoded
}

// applyView applies updates that must succeed, and checks that the result reads back as itself.
func applyView(t testing.TB, base *metadata.ViewDocument, updates ...string) *metadata.ViewResult {
	t.Helper()
	result, err := metadata.ApplyView(base, decodeView(t, updates...), now())
	require.NoError(t, err)
	requireViewOpens(t, result.Document)
	return result
}

func requireViewOpens(t testing.TB, doc *metadata.ViewDocument) {
	t.Helper()
	again, err := metadata.ParseView(doc.Bytes())
	require.NoError(t, err, "%s", doc.Bytes())
	require.Equal(t, again.Versions(), doc.Versions())
	require.Equal(t, again.Properties(), doc.Properties())
}

func viewVersion(id, schema int, dialect, sql string) string {
	return fmt.Sprintf(`{"version-id":%d,"timestamp-ms":1702638600000,"schema-id":%d,"summary":{"engine-name":"trino"},"default-namespace":["default"],"representations":[{"type":"sql","sql":%q,"dialect":%q}]}`,
		id, schema, sql, dialect)
}

func addVersion(version string) string {
	return `{"action":"add-view-version","view-version":` + version + `}`
}

const makeCurrent = `{"action":"set-current-view-version","view-version-id":-1}`

const allowDroppedDialects = `{"action":"set-properties","updates":{"replace.drop-dialect.allowed":"true"}}`

func TestViewIsReadAsItIsWritten(t *testing.T) {
	doc := goldenView(t)
	raw, err := os.ReadFile("testdata/view.json")
	require.NoError(t, err)
	require.Equal(t, string(raw), string(doc.Bytes()))
	require.Equal(t, viewUUID, doc.UUID())
	require.Equal(t, "s3://bucket/warehouse/default.db/event_agg", doc.Location())
	require.Equal(t, map[string]string{"comment": "Daily event counts", "gone": "1"}, doc.Properties())
	require.Equal(t, 2, doc.CurrentVersionID())
	current := doc.CurrentVersion()
	require.Equal(t, []metadata.ViewRepresentation{{Type: "sql", SQL: "SELECT 2", Dialect: "spark"}, {Type: "plan"}}, current.Representations)
	require.Equal(t, []string{"default"}, current.DefaultNamespace)
	require.Equal(t, "prod", current.DefaultCatalog)
	require.Equal(t, "Spark", current.Summary["engine-name"])
	require.Len(t, doc.Versions(), 2)
	require.Equal(t, []int{1}, doc.SchemaIDs())
	schema, ok, err := doc.Schema(1)
	require.NoError(t, err)
	require.True(t, ok)
	require.Len(t, schema.Fields, 2)
	require.Equal(t, []metadata.ViewLogEntry{{1, 1573518431292}, {2, 1573518981593}}, doc.VersionLog())
}

// TestViewReplaceKeepsWhatItDoesNotKnow compares whole documents: only the sections that a replacement changes differ.
func TestViewReplaceKeepsWhatItDoesNotKnow(t *testing.T) {
	doc := goldenView(t)
	result := applyView(t, doc, addVersion(viewVersion(7, 1, "spark", "SELECT 3")), makeCurrent)
	require.True(t, result.Changed)
	got := result.Document
	for _, name := range []string{"view-uuid", "x-note", "location", "properties", "schemas"} {
		before, _ := doc.Section(name)
		after, _ := got.Section(name)
		require.Equal(t, string(before), string(after), name)
	}
	versions, _ := got.Section("versions")
	require.Contains(t, string(versions), `"x-hint" : 2.50`)
	log, _ := got.Section("version-log")
	require.Contains(t, string(log), `"x-by": "ann"`)
	require.Equal(t, 7, got.CurrentVersionID())
	require.Equal(t, metadata.ViewLogEntry{VersionID: 7, TimestampMs: 1702638600000}, got.VersionLog()[2])
	require.Equal(t, []int{7}, result.Changes.AddedVersions)
	require.True(t, result.Changes.CurrentVersionChanged)
	require.Equal(t, 2, doc.CurrentVersionID(), "the base is not changed")
}

func TestViewUpdatesWithoutEffect(t *testing.T) {
	doc := goldenView(t)
	for _, updates := range [][]string{
		nil,
		{`{"action":"assign-uuid","uuid":"` + viewUUID + `"}`},
		{`{"action":"upgrade-format-version","format-version":1}`},
		{`{"action":"set-location","location":"s3://bucket/warehouse/default.db/event_agg"}`},
		{`{"action":"set-properties","updates":{"comment":"Daily event counts"}}`},
		{`{"action":"remove-properties","removals":["absent"]}`},
		{`{"action":"set-current-view-version","view-version-id":2}`},
		{`{"action":"add-schema","schema":{"type":"struct","schema-id":9,"fields":[{"name":"event_count","id":1,"required":false,"type":"int","doc":"Count of events"},{"x-unit":"day","id":2,"name":"event_date","required":false,"type":"date"}]}}`},
		{`{"action":"set-properties","updates":{"k":"v"}}`, `{"action":"remove-properties","removals":["k"]}`},
	} {
		result := applyView(t, doc, updates...)
		require.False(t, result.Changed, "%s", updates)
		require.Same(t, doc, result.Document)
	}
}

func TestIdenticalViewVersionKeepsItsID(t *testing.T) {
	doc := goldenView(t)
	same := `{"schema-id":1,"representations":[{"dialect":"spark","type":"sql","sql":"SELECT COUNT(1)\nFROM events"}],
		"summary":{"engineVersion":"3.3.2","engine-name":"Spark"},"default-namespace":["default"],"default-catalog":"prod",
		"version-id":3,"timestamp-ms":1702638600000}`
	require.False(t, applyView(t, doc, addVersion(same)).Changed)
	result := applyView(t, doc, addVersion(same), makeCurrent)
	require.Equal(t, 1, result.Document.CurrentVersionID())
	require.Len(t, result.Document.Versions(), 2)
	require.Equal(t, metadata.ViewLogEntry{VersionID: 1, TimestampMs: now().UnixMilli()}, result.Document.VersionLog()[2], "it became current now, not when it was made")
	// With a schema of the same commit it is the last added that counts.
	schema := `{"action":"add-schema","schema":` + goldenSchema(t, doc) + `}`
	last := strings.Replace(same, `"schema-id":1`, `"schema-id":-1`, 1)
	require.False(t, applyView(t, doc, schema, addVersion(last)).Changed)
}

func goldenSchema(t testing.TB, doc *metadata.ViewDocument) string {
	t.Helper()
	schema, _, err := doc.Schema(1)
	require.NoError(t, err)
	return string(schema.Raw)
}

func TestViewVersionWithANewSchema(t *testing.T) {
	result := applyView(t, goldenView(t),
		`{"action":"add-schema","schema":{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"n","required":false,"type":"variant"}]}}`,
		addVersion(viewVersion(1, -1, "spark", "SELECT n")), makeCurrent)
	current := result.Document.CurrentVersion()
	require.Equal(t, 3, current.ID, "a taken id is not granted")
	require.Equal(t, 2, current.SchemaID)
	require.Equal(t, []int{1, 2}, result.Document.SchemaIDs())
}

func TestViewHistoryIsBounded(t *testing.T) {
	doc := goldenView(t)
	for i := range 20 {
		doc = applyView(t, doc, addVersion(viewVersion(0, 1, "spark", fmt.Sprint("SELECT ", i))), makeCurrent).Document
	}
	ids := func(doc *metadata.ViewDocument) (out []int) {
		for _, v := range doc.Versions() {
			out = append(out, v.ID)
		}
		return out
	}
	require.Equal(t, []int{13, 14, 15, 16, 17, 18, 19, 20, 21, 22}, ids(doc))
	require.Len(t, doc.VersionLog(), 10)

	doc = applyView(t, doc, `{"action":"set-current-view-version","view-version-id":13}`).Document
	doc = applyView(t, doc, `{"action":"set-properties","updates":{"version.history.num-entries":"2"}}`).Document
	require.Equal(t, []int{13, 22}, ids(doc), "the current version stays, however old")
	require.Equal(t, []metadata.ViewLogEntry{{22, 1702638600000}, {13, now().UnixMilli()}}, doc.VersionLog(),
		"the log starts anew after a version that is gone")

	doc = applyView(t, doc, addVersion(viewVersion(0, 1, "spark", "a")), addVersion(viewVersion(0, 1, "spark", "b")),
		addVersion(viewVersion(0, 1, "spark", "c")), makeCurrent).Document
	require.Equal(t, []int{23, 24, 25}, ids(doc), "what one commit adds is never lost to the bound")
}

func TestViewUpdatesThatAreRefused(t *testing.T) {
	doc := goldenView(t)
	spark := viewVersion(3, 1, "spark", "SELECT 9")
	without := func(field string) string {
		var v map[string]any
		require.NoError(t, json.Unmarshal([]byte(spark), &v))
		delete(v, field)
		out, err := json.Marshal(v)
		require.NoError(t, err)
		return addVersion(string(out))
	}
	for name, c := range map[string]struct {
		updates []string
		part    string
	}{
		"a table's action":      {[]string{`{"action":"set-current-schema","schema-id":0}`}, "unknown action set-current-schema"},
		"no action":             {[]string{`{}`}, "field action"},
		"another uuid":          {[]string{`{"action":"assign-uuid","uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c2"}`}, "Cannot reassign uuid"},
		"no uuid":               {[]string{`{"action":"assign-uuid","uuid":"x"}`}, "Cannot set uuid"},
		"a newer format":        {[]string{`{"action":"upgrade-format-version","format-version":2}`}, "unsupported format version: v2"},
		"an older format":       {[]string{`{"action":"upgrade-format-version","format-version":0}`}, "Cannot downgrade"},
		"no location":           {[]string{`{"action":"set-location","location":""}`}, "empty string"},
		"an unknown version":    {[]string{`{"action":"set-current-view-version","view-version-id":9}`}, "Cannot set current version to unknown version: 9"},
		"no last version":       {[]string{makeCurrent}, "Cannot set last version id"},
		"an unknown schema":     {[]string{addVersion(viewVersion(3, 4, "spark", "SELECT 9"))}, "Cannot add version with unknown schema: 4"},
		"no last schema":        {[]string{addVersion(viewVersion(3, -1, "spark", "SELECT 9"))}, "Cannot set last added schema"},
		"an id out of range":    {[]string{addVersion(viewVersion(2147483647, 1, "spark", "SELECT 9"))}, "out of range"},
		"no version id":         {[]string{without("version-id")}, "version-id"},
		"no time":               {[]string{without("timestamp-ms")}, "timestamp-ms"},
		"no summary":            {[]string{without("summary")}, "summary"},
		"no namespace":          {[]string{without("default-namespace")}, "default-namespace"},
		"no representations":    {[]string{without("representations")}, "representations"},
		"an empty query":        {[]string{addVersion(viewVersion(3, 1, "spark", " "))}, "needs sql and dialect"},
		"no dialect":            {[]string{addVersion(viewVersion(3, 1, "", "SELECT 9"))}, "needs sql and dialect"},
		"a lost dialect":        {[]string{addVersion(viewVersion(3, 1, "trino", "SELECT 9")), makeCurrent}, "Cannot replace view due to loss of view dialects"},
		"a bound of nothing":    {[]string{`{"action":"set-properties","updates":{"version.history.num-entries":"0"}}`}, "must be positive but was 0"},
		"a bound of words":      {[]string{`{"action":"set-properties","updates":{"version.history.num-entries":"few"}}`}, "must be positive but was few"},
		"a property of numbers": {[]string{`{"action":"set-properties","updates":{"a":1}}`}, "property a is not a string"},
		"a doubled column": {[]string{`{"action":"add-schema","schema":{"type":"struct","fields":[{"id":1,"name":"a","required":false,"type":"int"},{"id":2,"name":"a","required":false,"type":"int"}]}}`},
			"multiple fields for name a"},
	} {
		decoded, err := metadata.DecodeViewUpdates(messages(c.updates...))
		if err == nil {
			_, err = metadata.ApplyView(doc, decoded, now())
		}
		require.Error(t, err, name)
		require.Equal(t, fault.Invalid, fault.CodeOf(err), name)
		require.Contains(t, err.Error(), c.part, name)
	}
}

func TestOneQueryForEachDialect(t *testing.T) {
	twice := `{"version-id":3,"timestamp-ms":1,"schema-id":1,"summary":{},"default-namespace":[],"representations":[
		{"type":"sql","sql":"SELECT 1","dialect":"Trino"},{"type":"sql","sql":"SELECT 2","dialect":"trino "}]}`
	_, err := metadata.ApplyView(goldenView(t), decodeView(t, addVersion(twice)), now())
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, fault.Invalid, f.Code)
	require.Equal(t, fault.Argument, f.Subject)
	require.Equal(t, "Invalid view version: Cannot add multiple queries for dialect trino", f.Message)
}

func TestDroppedDialectMayBeAllowed(t *testing.T) {
	result := applyView(t, goldenView(t), allowDroppedDialects, addVersion(viewVersion(3, 1, "trino", "SELECT 9")), makeCurrent)
	require.Equal(t, 3, result.Document.CurrentVersionID())
}

func TestViewRequirements(t *testing.T) {
	doc := goldenView(t)
	check := func(text string) error {
		reqs, err := metadata.DecodeViewRequirements(messages(text))
		if err != nil {
			return err
		}
		return metadata.CheckView(doc, reqs)
	}
	require.NoError(t, check(`{"type":"assert-view-uuid","uuid":"`+strings.ToUpper(viewUUID)+`"}`))
	err := check(`{"type":"assert-view-uuid","uuid":"other"}`)
	require.Equal(t, fault.Conflict, fault.CodeOf(err))
	require.Contains(t, err.Error(), "Requirement failed: view UUID does not match")
	for _, bad := range []string{`{"type":"assert-create"}`, `{"type":"assert-table-uuid","uuid":"u"}`, `{"type":"assert-view-uuid"}`, `{}`, `[]`, `{`} {
		require.Equal(t, fault.Invalid, fault.CodeOf(check(bad)), bad)
	}
}

func TestViewsThatNoEngineCouldOpen(t *testing.T) {
	good := string(goldenView(t).Bytes())
	for name, replace := range map[string][2]string{
		"a newer format":     {`"format-version" : 1`, `"format-version" : 2`},
		"no uuid":            {`"view-uuid"`, `"x-uuid"`},
		"no location":        {`"location"`, `"x-location"`},
		"no versions":        {`"versions"`, `"x-versions"`},
		"no schemas":         {`"schemas"`, `"x-schemas"`},
		"no such version":    {`"current-version-id" : 2`, `"current-version-id" : 3`},
		"a repeated version": {`"version-id" : 2, "timestamp-ms"`, `"version-id" : 1, "timestamp-ms"`},
		"no such schema":     {`"schema-id": 1, "type"`, `"schema-id": 5, "type"`},
		"an odd property":    {`"gone": "1"`, `"gone": 1`},
		"an odd log":         {`"version-log" : [ { "timestamp-ms" : 1573518431292`, `"version-log" : [ { "timestamp-ms" : "x"`},
	} {
		require.Contains(t, good, replace[0], name)
		_, err := metadata.ParseView([]byte(strings.Replace(good, replace[0], replace[1], 1)))
		require.Equal(t, fault.Invalid, fault.CodeOf(err), name)
		require.Contains(t, err.Error(), "Cannot parse view metadata", name)
	}
	for _, raw := range []string{``, `[]`, `{`, string(golden(t, "v2").Bytes())} {
		_, err := metadata.ParseView([]byte(raw))
		require.Equal(t, fault.Invalid, fault.CodeOf(err), raw)
	}
}

func createViewInput() metadata.CreateViewInput {
	return metadata.CreateViewInput{
		UUID: viewUUID, Location: "s3://b/v", Now: now(), Properties: map[string]string{"b": "2", "a": "1"},
		Schema:  json.RawMessage(`{"type":"struct","schema-id":5,"fields":[{"id":3,"name":"id","required":true,"type":"long","x":1.0}]}`),
		Version: json.RawMessage(viewVersion(4, 5, "spark", "SELECT id")),
	}
}

func TestNewView(t *testing.T) {
	doc, err := metadata.NewView(createViewInput())
	require.NoError(t, err)
	requireViewOpens(t, doc)
	require.Equal(t, `{"view-uuid":"`+viewUUID+`","format-version":1,"location":"s3://b/v",`+
		`"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":3,"name":"id","required":true,"type":"long","x":1.0}]}],`+
		`"current-version-id":1,"versions":[`+viewVersion(1, 0, "spark", "SELECT id")+`],`+
		`"version-log":[{"timestamp-ms":1702638600000,"version-id":1}],"properties":{"a":"1","b":"2"}}`, string(doc.Bytes()))
	for name, spoil := range map[string]func(*metadata.CreateViewInput){
		"no schema":  func(in *metadata.CreateViewInput) { in.Schema = nil },
		"no version": func(in *metadata.CreateViewInput) { in.Version = json.RawMessage(`{}`) },
		"no uuid":    func(in *metadata.CreateViewInput) { in.UUID = "" },
		"no place":   func(in *metadata.CreateViewInput) { in.Location = "" },
	} {
		in := createViewInput()
		spoil(&in)
		_, err := metadata.NewView(in)
		require.Equal(t, fault.Invalid, fault.CodeOf(err), name)
	}
}
