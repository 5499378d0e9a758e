package policy

import "github.com/sluice-data/sluice/models"

// StorageQuestion is what decides about somebody's rights on the files of one table.
type StorageQuestion struct {
	Policy    models.WritePolicy
	ReadData  bool // holds TABLE_READ_DATA on the table
	WriteData bool // holds TABLE_WRITE_DATA on the table
	ReadOnly  bool // asks with a token that may not write
	Steward   bool // holds TABLE_GOVERN, and asks with no engine token: the write policy does not bind it
	Clearance models.Classification
	Highest   models.Classification // of the table and all its columns; an unknown level counts as restricted
	Filtered  bool                  // by row filters, see RowFilterFor: rows of its own alone
}

// StorageRightsFor gives the rights on a table's files. Files are not columns: data may be read by those alone whose
// clearance reaches the highest level in the table. Nor are files rows: who is filtered reads none.
//
// Reading:
//
//	                                    ReadData  ReadMetadata
//	TABLE_READ_DATA, clearance ≥ highest  yes       yes
//	the same, but filtered                no        as below
//	may not read data, may write          no        yes
//	neither                               no        no
//
// Writing, for TABLE_WRITE_DATA and a token that may write; nobody else has any of it:
//
//	                          Write  Overwrite  Delete
//	governed_only               no      no        no
//	open_append                 yes     no        no
//	open_full                   yes     yes       yes
//	a steward, any policy       yes     yes       yes
//
// A writer who may not read data has write-only access: it puts files and reads metadata, as a commit takes no more.
func StorageRightsFor(q StorageQuestion) models.StorageRights {
	var r models.StorageRights
	r.ReadData = q.ReadData && !q.Filtered && cleared(q.Clearance, q.Highest)
	if q.WriteData && !q.ReadOnly {
		r.Overwrite = q.Steward || q.Policy == models.OpenFull
		r.Delete = r.Overwrite
		r.Write = r.Overwrite || q.Policy == models.OpenAppend
	}
	r.ReadMetadata = r.ReadData || r.Write
	return r
}

// cleared tells whether a clearance reaches a level. Unknown names are refused: of a level as if it were the highest, of
// a clearance as if it were none.
func cleared(clearance, level models.Classification) bool {
	if level.Rank() < 0 {
		level = models.Restricted
	}
	return clearance.Rank() >= level.Rank()
}
