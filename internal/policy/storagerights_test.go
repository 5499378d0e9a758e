package policy

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sluice-data/sluice/models"
)

func TestStorageRightsForMatrix(t *testing.T) {
	// Letters: d ReadData, m ReadMetadata, w Write, o Overwrite, x Delete. Columns: the privileges held.
	// Rows: the policy and who asks, with and without clearance for the table's highest level.
	type row struct {
		policy    models.WritePolicy
		readOnly  bool
		steward   bool
		cleared   bool
		none      string
		readData  string
		writeData string
		both      string
	}
	for _, r := range []row{
		{models.GovernedOnly, false, false, true, "", "dm", "", "dm"},
		{models.GovernedOnly, false, false, false, "", "", "", ""},
		{models.GovernedOnly, false, true, true, "", "dm", "mwox", "dmwox"},
		{models.GovernedOnly, false, true, false, "", "", "mwox", "mwox"},
		{models.GovernedOnly, true, false, true, "", "dm", "", "dm"},
		{models.GovernedOnly, true, true, true, "", "dm", "", "dm"},

		{models.OpenAppend, false, false, true, "", "dm", "mw", "dmw"},
		{models.OpenAppend, false, false, false, "", "", "mw", "mw"},
		{models.OpenAppend, false, true, true, "", "dm", "mwox", "dmwox"},
		{models.OpenAppend, true, false, true, "", "dm", "", "dm"},
		{models.OpenAppend, true, false, false, "", "", "", ""},

		{models.OpenFull, false, false, true, "", "dm", "mwox", "dmwox"},
		{models.OpenFull, false, false, false, "", "", "mwox", "mwox"},
		{models.OpenFull, true, false, true, "", "dm", "", "dm"},
		{models.OpenFull, true, true, false, "", "", "", ""},

		{"", false, false, true, "", "dm", "", "dm"}, // an unknown policy is the strictest
	} {
		clearance := models.Internal
		if r.cleared {
			clearance = models.Confidential
		}
		for _, c := range []struct {
			read, write bool
			want        string
		}{{false, false, r.none}, {true, false, r.readData}, {false, true, r.writeData}, {true, true, r.both}} {
			q := StorageQuestion{
				Policy: r.policy, ReadData: c.read, WriteData: c.write, ReadOnly: r.readOnly, Steward: r.steward,
				Clearance: clearance, Highest: models.Confidential,
			}
			assert.Equal(t, c.want, letters(StorageRightsFor(q)), fmt.Sprintf("%+v", q))
		}
	}
}

func TestStorageRightsForClearance(t *testing.T) {
	levels := []models.Classification{models.Public, models.Internal, models.Confidential, models.Restricted}
	for i, clearance := range levels {
		for j, highest := range levels {
			got := StorageRightsFor(StorageQuestion{Policy: models.OpenFull, ReadData: true, Clearance: clearance, Highest: highest})
			assert.Equal(t, i >= j, got.ReadData, "clearance %s, table %s", clearance, highest)
		}
	}
	unknown := StorageRightsFor(StorageQuestion{ReadData: true, Clearance: models.Confidential, Highest: "secret"})
	assert.False(t, unknown.Any(), "an unknown level is as high as any")
	assert.True(t, StorageRightsFor(StorageQuestion{ReadData: true, Clearance: models.Restricted, Highest: ""}).ReadData)
	assert.False(t, StorageRightsFor(StorageQuestion{ReadData: true, Clearance: "", Highest: models.Public}).Any(), "no clearance, no data")
}

func letters(r models.StorageRights) string {
	s := ""
	for _, c := range []struct {
		has    bool
		letter string
	}{{r.ReadData, "d"}, {r.ReadMetadata, "m"}, {r.Write, "w"}, {r.Overwrite, "o"}, {r.Delete, "x"}} {
		if c.has {
			s += c.letter
		}
	}
	return s
}
