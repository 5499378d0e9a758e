package policy

import "github.com/sluice-data/sluice/models"

// Attempt is one commit to judge: what it does to which table, under which policy, by whom.
type Attempt struct {
	Table           string // dotted name, for messages
	Policy          models.WritePolicy
	Has             func(models.Privilege) bool // on this table
	EngineToken     bool
	ReservedPrefix  string // such as "sluice."
	Columns         map[string]models.ColumnGovernance
	IdentityColumns []string
	FilterColumns   []string // that row filters name
	AnyLocation     bool     // the operator lets files of open_full tables lie outside their tables
	Change          Change
}

// Change is what a commit does, in facts: the net and every intermediate step, never the resulting head alone.
type Change struct {
	Actions          []string        // the update actions as sent, for the privileges each needs
	CreatesTable     bool            // assert-create: the table does not exist yet
	ReplacesTable    bool            // create-or-replace of an existing table
	Registers        bool            // CreatesTable by a metadata file that is there already: its whole content is what it adds
	Snapshots        []SnapshotFacts // of every added snapshot, and of the older ones that a RefMove gains
	RefMoves         []RefMove
	RemovedSnapshots int
	RemovedRefs      []string
	Columns          []ColumnChange
	SpecChanged      bool // partition specs added, removed or another default
	SortOrderChanged bool
	LocationChanged  bool
	FormatUpgraded   bool
	SchemasRemoved   bool
	EncryptionKeys   bool
	PropertiesSet    []string // keys whose value changes
	PropertiesGone   []string
	OutsideFile      string // the first statistics file outside the table's location, "" if none
}

// Outside gives the first file that the commit adds outside the table's location, "" if there is none.
func (c Change) Outside() string {
	if c.OutsideFile != "" {
		return c.OutsideFile
	}
	for _, s := range c.Snapshots {
		if s.OutsideFile != "" {
			return s.OutsideFile
		}
	}
	return ""
}

// SnapshotFacts is what reading a new snapshot's manifest list showed, not what its summary claims.
type SnapshotFacts struct {
	ID             int64
	Operation      string // as claimed
	Append         bool   // verified: no deletes added and every live file of the parent still live
	NotAppend      string // why it is not, a clause such as "it adds a delete manifest"
	OutsideFile    string // the first file outside the table's location, "" if none
	FirstOfCreate  bool   // the first snapshot of a staged create
	OwnershipHurts string // the first platform-owned file it removes or deletes from, "" if none
}

// RefMove is one move of a branch or tag.
type RefMove struct {
	Ref     string
	Forward bool // to a descendant of where it was, or a new ref
	Tag     bool // a tag that existed before: tags name one snapshot for ever
	// Gains is the snapshots that this commit does not add and that a branch which existed before comes to include: a
	// fast-forward to staged work. Each needs facts in Snapshots, or it counts as unverified.
	Gains []int64
	// ShortensRetention: a ref that existed before gets an age or count of its own that is lower than what held for
	// it, so that its snapshots could be expired sooner.
	ShortensRetention bool
}

// ColumnChange is one difference between the schemas before and after.
type ColumnChange struct {
	Column   string // dotted name as it was; the new name for an addition
	Additive bool   // a new optional column or a doc
	What     string // a verb for messages: one of the Column constants, or another
}

// What a ColumnChange does. Any other verb counts as harmful to a governed column.
const (
	ColumnAdds          = "adds"
	ColumnDrops         = "drops"
	ColumnRenames       = "renames"
	ColumnRetypes       = "retypes"
	ColumnMoves         = "moves" // into another parent
	ColumnReorders      = "reorders"
	ColumnDocuments     = "documents"
	ColumnMakesOptional = "makes optional"
	ColumnMakesRequired = "makes required"
)

// Decision is the answer to an Attempt.
type Decision struct {
	Allowed bool
	Kind    models.CommitKind // external, or platform for a steward
	Err     error             // of a refusal: fault.Forbidden whose message names table, policy, attempt and remedy
	Rule    string            // which rule refused: one of the Rule constants
}

// The rules that refuse, as the audit names them.
const (
	RulePrivilege       = "privilege"
	RuleReserved        = "reserved"
	RuleLocation        = "location"
	RuleSensitiveColumn = "sensitive_column"
	RulePolicy          = "policy"
	RuleOwnership       = "ownership"
	RuleDuplicate       = "duplicate" // of a commit that the table has already; not Decide's
)
