package objects

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func TestOpenings(t *testing.T) {
	table := []models.StorageArea{{Prefix: "gs://b/wh/t"}, {Prefix: "gs://b/wh/t/metadata", Metadata: true}}
	inverse := []models.StorageArea{{Prefix: "gs://b/wh/t", Metadata: true}, {Prefix: "gs://b/wh/t/data"}}
	apart := []models.StorageArea{{Prefix: "gs://b/wh/t"}, {Prefix: "gs://c/elsewhere"}, {Prefix: "gs://b/wh/t10"}}
	full := models.StorageRights{ReadData: true, ReadMetadata: true, Write: true, Overwrite: true, Delete: true}
	writeOnly := models.StorageRights{ReadMetadata: true, Write: true}
	for name, c := range map[string]struct {
		areas  []models.StorageArea
		rights models.StorageRights
		want   []string
	}{
		"all rights on a table are one folder":             {table, full, []string{"gs://b/wh/t rwod"}},
		"reading is one folder":                            {table, models.StorageRights{ReadData: true, ReadMetadata: true}, []string{"gs://b/wh/t r"}},
		"write-only opens the metadata for reading beside": {table, writeOnly, []string{"gs://b/wh/t w", "gs://b/wh/t/metadata rw"}},
		"metadata alone":                                   {table, models.StorageRights{ReadMetadata: true}, []string{"gs://b/wh/t/metadata r"}},
		"what is closed within a folder closes it":         {inverse, writeOnly, []string{"gs://b/wh/t w"}},
		"no right":              {table, models.StorageRights{}, nil},
		"folders apart":         {apart, full, []string{"gs://b/wh/t rwod", "gs://b/wh/t10 rwod", "gs://c/elsewhere rwod"}},
		"the same folder twice": {append(table, table...), full, []string{"gs://b/wh/t rwod"}},
		"the same folder with less is no more than that less": {[]models.StorageArea{{Prefix: "gs://b/x"}, {Prefix: "gs://b/x", Metadata: true}}, writeOnly, []string{"gs://b/x w"}},
	} {
		open, err := Openings(models.StorageAccess{Table: "ns.t", Areas: c.areas, Rights: c.rights})
		require.NoError(t, err, name)
		var got []string
		for _, o := range open {
			got = append(got, o.At.String()+" "+letters(o))
		}
		assert.Equal(t, c.want, got, name)
	}
	_, err := Openings(models.StorageAccess{Table: "ns.t", Areas: []models.StorageArea{{Prefix: "gs://b"}}, Rights: full})
	assert.True(t, fault.Is(err, fault.Unprocessable), err)
	assert.Contains(t, fault.PublicMessage(err), "ns.t")
	_, err = Openings(models.StorageAccess{Areas: []models.StorageArea{{Prefix: "gs://b/../x"}}, Rights: full})
	assert.True(t, fault.Is(err, fault.Invalid), err)
}

func letters(o Opening) string {
	s := ""
	for _, right := range []struct {
		has    bool
		letter string
	}{{o.Read, "r"}, {o.Write, "w"}, {o.Overwrite, "o"}, {o.Delete, "d"}} {
		if right.has {
			s += right.letter
		}
	}
	return s
}
