package policy

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// people is id, email, address{street, city, geo{lat}}, visits[{ip}], tags{key: value}.
func people(t *testing.T) metadata.Schema {
	t.Helper()
	doc, err := metadata.New(metadata.CreateInput{UUID: "0197a0de-7c1b-7f5e-9d3c-0d8a1f2b3c4d", Location: "file:///t", Schema: json.RawMessage(`{"type":"struct","schema-id":0,"fields":[
		{"id":1,"name":"id","required":true,"type":"long"},
		{"id":2,"name":"email","required":false,"type":"string"},
		{"id":3,"name":"address","required":false,"type":{"type":"struct","fields":[
			{"id":4,"name":"street","required":false,"type":"string"},
			{"id":5,"name":"city","required":false,"type":"string"},
			{"id":6,"name":"geo","required":false,"type":{"type":"struct","fields":[{"id":7,"name":"lat","required":false,"type":"double"}]}}]}},
		{"id":8,"name":"visits","required":false,"type":{"type":"list","element-id":9,"element-required":false,"element":
			{"type":"struct","fields":[{"id":10,"name":"ip","required":false,"type":"string"}]}}},
		{"id":11,"name":"tags","required":false,"type":{"type":"map","key-id":12,"key":"string","value-id":13,"value-required":false,"value":"string"}}]}`)})
	require.NoError(t, err)
	schema, err := doc.CurrentSchema()
	require.NoError(t, err)
	return schema
}

func said(level models.Classification, columns map[string]models.ColumnGovernance) models.Table {
	return models.Table{Classification: level, Columns: models.JSON[map[string]models.ColumnGovernance]{V: columns}}
}

func TestMasksFor(t *testing.T) {
	schema := people(t)
	type columns = map[string]models.ColumnGovernance
	const public, internal, confidential, restricted = models.Public, models.Internal, models.Confidential, models.Restricted
	for name, c := range map[string]struct {
		clearance, table models.Classification
		columns          columns
		want             map[string]Mask
	}{
		"nothing is above the clearance": {internal, internal, nil, map[string]Mask{}},
		"the table is": {internal, confidential, nil, map[string]Mask{
			"id": {MaskRedact, "", confidential}, "email": {MaskRedact, "", confidential}, "address": {MaskRedact, "", confidential},
			"visits": {MaskRedact, "", confidential}, "tags": {MaskRedact, "", confidential},
		}},
		"a column is, with the mask of its tag": {internal, internal, columns{"email": {Sensitivity: restricted, Tag: "Email"}}, map[string]Mask{
			"email": {MaskPartial, TagEmail, restricted},
		}},
		"a column is, with a mask of its own": {internal, internal, columns{"email": {Sensitivity: restricted, Tag: "email", Mask: "hash"}}, map[string]Mask{
			"email": {MaskHash, TagEmail, restricted},
		}},
		"a column that is lower than its table": {internal, confidential, columns{"id": {Sensitivity: public}, "address": {Sensitivity: internal}, "visits": {Sensitivity: public}, "tags": {Sensitivity: public}},
			map[string]Mask{"email": {MaskRedact, "", confidential}}},
		"a tag alone is no level":          {internal, internal, columns{"email": {Tag: "email"}}, map[string]Mask{}},
		"an unknown level is the highest":  {confidential, internal, columns{"email": {Sensitivity: "secret"}}, map[string]Mask{"email": {MaskRedact, "", restricted}}},
		"an unknown mask shows nothing":    {internal, internal, columns{"email": {Sensitivity: restricted, Mask: "blur"}}, map[string]Mask{"email": {MaskNull, "", restricted}}},
		"no clearance at all":              {"", public, columns{"id": {Sensitivity: public}}, map[string]Mask{"id": {MaskRedact, "", public}, "email": {MaskRedact, "", public}, "address": {MaskRedact, "", public}, "visits": {MaskRedact, "", public}, "tags": {MaskRedact, "", public}}},
		"a nested column":                  {internal, internal, columns{"address.street": {Sensitivity: confidential, Mask: "truncate"}}, map[string]Mask{"address.street": {MaskTruncate, "", confidential}}},
		"a struct hides what is in it":     {internal, internal, columns{"address": {Sensitivity: confidential}, "address.city": {Sensitivity: public}}, map[string]Mask{"address": {MaskRedact, "", confidential}}},
		"a child that is higher":           {confidential, internal, columns{"address": {Sensitivity: confidential}, "address.geo": {Sensitivity: restricted, Mask: "null"}}, map[string]Mask{"address.geo": {MaskNull, "", restricted}}},
		"a child that is lower stays":      {internal, internal, columns{"address.geo": {Sensitivity: restricted}, "address.geo.lat": {Sensitivity: public}}, map[string]Mask{"address.geo": {MaskRedact, "", restricted}}},
		"a child shows in a hidden table":  {internal, confidential, columns{"id": {Sensitivity: public}, "email": {Sensitivity: public}, "visits": {Sensitivity: public}, "tags": {Sensitivity: public}, "address.city": {Sensitivity: public}}, map[string]Mask{"address.street": {MaskRedact, "", confidential}, "address.geo": {MaskRedact, "", confidential}}},
		"all of a struct is hidden":        {internal, internal, columns{"address.street": {Sensitivity: confidential}, "address.city": {Sensitivity: restricted}, "address.geo.lat": {Sensitivity: confidential}}, map[string]Mask{"address": {MaskRedact, "", restricted}}},
		"what is in a list hides all":      {internal, internal, columns{"visits.element.ip": {Sensitivity: confidential, Tag: "ip"}}, map[string]Mask{"visits": {MaskNull, "", confidential}}},
		"what is in a map hides all":       {internal, internal, columns{"tags.value": {Sensitivity: restricted}}, map[string]Mask{"tags": {MaskNull, "", restricted}}},
		"a list is like any other":         {internal, internal, columns{"visits": {Sensitivity: confidential, Mask: "hash"}}, map[string]Mask{"visits": {MaskHash, "", confidential}}},
		"a column that is no more":         {internal, internal, columns{"gone": {Sensitivity: restricted}}, map[string]Mask{}},
		"a clearance that reaches it all":  {restricted, restricted, columns{"email": {Sensitivity: restricted}, "visits.element.ip": {Sensitivity: restricted}}, map[string]Mask{}},
		"what is in a list within reach":   {confidential, internal, columns{"visits.element.ip": {Sensitivity: confidential}}, map[string]Mask{}},
		"the higher of two in lists shows": {public, public, columns{"visits.element": {Sensitivity: internal}, "visits.element.ip": {Sensitivity: restricted}}, map[string]Mask{"visits": {MaskNull, "", restricted}}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, MasksFor(c.clearance, said(c.table, c.columns), schema))
		})
	}
}

// Whatever is masked for somebody is masked for everybody with less clearance.
func TestMasksGrowWithLessClearance(t *testing.T) {
	schema := people(t)
	levels := []models.Classification{models.Public, models.Internal, models.Confidential, models.Restricted}
	var paths []string
	schema.Walk(func(f metadata.Field) { paths = append(paths, f.Path) })
	for seed := range 200 {
		columns := map[string]models.ColumnGovernance{}
		for i, path := range paths {
			if n := (seed*31 + i*17 + seed>>(i%7)) % 9; n < 4 {
				columns[path] = models.ColumnGovernance{Sensitivity: levels[n]}
			}
		}
		table := said(levels[seed%4], columns)
		masks := map[models.Classification]map[string]Mask{}
		for _, clearance := range levels {
			masks[clearance] = MasksFor(clearance, table, schema)
		}
		for i := 1; i < len(levels); i++ {
			more, less := masks[levels[i]], masks[levels[i-1]]
			for path := range more {
				_, hidden := MaskOf(less, path)
				require.True(t, hidden, "%s is masked for %s and not for %s: %v", path, levels[i], levels[i-1], columns)
			}
		}
		for path, level := range Levels(table, schema) {
			for _, clearance := range levels {
				_, hidden := MaskOf(masks[clearance], path)
				if clearance.Rank() < level.Rank() {
					require.True(t, hidden, "%s is %s and %s sees it: %v", path, level, clearance, columns)
				}
			}
		}
	}
}

func TestMaskOf(t *testing.T) {
	masks := map[string]Mask{"address": {Kind: MaskNull}, "a.b": {Kind: MaskHash}}
	for path, want := range map[string]string{
		"address": MaskNull, "address.city": MaskNull, "address.geo.lat": MaskNull, "a.b": MaskHash, "a.b.c": MaskHash, "a": "", "addresses": "", "a.bc": "", "": "",
	} {
		got, ok := MaskOf(masks, path)
		assert.Equal(t, want, got.Kind, path)
		assert.Equal(t, want != "", ok, path)
	}
}

func TestDefaultMasksAndLevelsOfTags(t *testing.T) {
	for tag, want := range map[string][2]string{
		"email": {"partial", "confidential"}, "EMAIL": {"partial", "confidential"}, "phone": {"partial", "confidential"}, "pan": {"partial", "restricted"},
		"iban": {"partial", "restricted"}, "ip": {"truncate", "internal"}, "national_id": {"hash", "restricted"}, "name": {"redact", "confidential"},
		"": {"redact", ""}, "shoe size": {"redact", ""},
	} {
		assert.Equal(t, want, [2]string{DefaultMask(tag), string(DefaultLevel(tag))}, tag)
	}
}

func TestLevels(t *testing.T) {
	table := said(models.Internal, map[string]models.ColumnGovernance{
		"email": {Sensitivity: models.Confidential}, "address": {Sensitivity: models.Confidential}, "address.city": {Sensitivity: models.Public},
		"address.geo.lat": {Sensitivity: models.Restricted}, "visits.element.ip": {Sensitivity: models.Restricted}, "tags": {Tag: "x"},
	})
	want := map[string]models.Classification{
		"id": models.Internal, "email": models.Confidential, "address": models.Confidential, "address.street": models.Confidential,
		"address.city": models.Confidential, "address.geo.lat": models.Restricted, "visits": models.Restricted, "tags": models.Internal,
	}
	assert.Equal(t, want, Levels(table, people(t)))
	for path, level := range want {
		if path != "visits" { // LevelAt looks at a column alone
			assert.Equal(t, level, LevelAt(table.Classification, table.Columns.V, path), path)
		}
	}
	assert.Equal(t, models.Restricted, LevelAt("?", nil, "x"))
	assert.Equal(t, []string{"pii", "email"}, TagsAt(map[string]models.ColumnGovernance{"a": {Tag: "PII"}, "a.b.c": {Tag: "email"}, "a.b.cd": {Tag: "no"}}, "a.b.c"))
}

func TestRowFilterFor(t *testing.T) {
	filter := func(role, expression string) models.RowFilter {
		return models.RowFilter{Role: role, Expression: json.RawMessage(expression)}
	}
	eu, us := filter("eu", `{"type":"eq","term":"region","value":"EU"}`), filter("us", `{"type":"eq","term":"region","value":"US"}`)
	for name, c := range map[string]struct {
		roles   []string
		filters []models.RowFilter
		want    []json.RawMessage
		all     bool
	}{
		"no filters":             {[]string{"eu"}, nil, nil, true},
		"no filters, no roles":   {nil, []models.RowFilter{}, nil, true},
		"one applies":            {[]string{"a", "eu"}, []models.RowFilter{eu, us}, []json.RawMessage{eu.Expression}, false},
		"two apply":              {[]string{"eu", "us"}, []models.RowFilter{eu, us}, []json.RawMessage{eu.Expression, us.Expression}, false},
		"none applies":           {[]string{"asia"}, []models.RowFilter{eu, us}, nil, false},
		"no roles":               {nil, []models.RowFilter{eu}, nil, false},
		"one is every row":       {[]string{"eu", "audit"}, []models.RowFilter{eu, filter("audit", " true ")}, nil, true},
		"that of others is":      {[]string{"eu"}, []models.RowFilter{eu, filter("audit", "true")}, []json.RawMessage{eu.Expression}, false},
		"one that says nothing":  {[]string{"eu"}, []models.RowFilter{filter("eu", "")}, nil, false},
		"one that is null":       {[]string{"eu"}, []models.RowFilter{filter("eu", "null")}, nil, false},
		"one that is never true": {[]string{"eu"}, []models.RowFilter{filter("eu", "false")}, []json.RawMessage{json.RawMessage("false")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			exprs, all := RowFilterFor(c.roles, c.filters)
			assert.Equal(t, c.want, exprs)
			assert.Equal(t, c.all, all)
		})
	}
}

func TestWhoIsFilteredReadsNoFiles(t *testing.T) {
	q := StorageQuestion{Policy: models.OpenFull, ReadData: true, Clearance: models.Restricted, Highest: models.Public, Filtered: true}
	assert.False(t, StorageRightsFor(q).Any())
	q.WriteData = true
	assert.Equal(t, models.StorageRights{ReadMetadata: true, Write: true, Overwrite: true, Delete: true}, StorageRightsFor(q), "it may write all the same")
	q.Steward = true
	assert.False(t, StorageRightsFor(q).ReadData, "nobody is above row filters")
}
