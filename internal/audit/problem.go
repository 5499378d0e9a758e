package audit

// ProblemKind says what is wrong with the audit.
type ProblemKind string

// The kinds.
const (
	Edited       ProblemKind = "edited"       // a row is not what was sealed
	Removed      ProblemKind = "removed"      // rows are gone
	Reordered    ProblemKind = "reordered"    // a row is at another's place
	Inserted     ProblemKind = "inserted"     // a row that was never sealed
	CutOff       ProblemKind = "cut_off"      // the end is gone
	Rewritten    ProblemKind = "rewritten"    // the chain fits in itself and is not the one that was signed
	BadState     ProblemKind = "state"        // the state is not that of the chain
	BadSignature ProblemKind = "signature"    // a checkpoint, or a key, was not made by Sluice
	NotSealed    ProblemKind = "not_sealed"   // an event waits too long for its place
	Unpruned     ProblemKind = "not_removed"  // events that were pruned are there
	NoCheckpoint ProblemKind = "no_statement" // nothing signed stands for what was pruned
)

// Problem is one thing that is wrong, with the row that shows it.
type Problem struct {
	Kind    ProblemKind `json:"kind"`
	Seq     int64       `json:"seq,omitempty"` // place in the chain
	ID      int64       `json:"id,omitempty"`  // of the row in audit_events
	EventID string      `json:"eventId,omitempty"`
	Detail  string      `json:"detail"`
}

// Report is what a verification found. What is wrong with the chain itself is told of the first row alone: nothing after
// it can be trusted.
type Report struct {
	Good        bool      `json:"good"`
	Events      int64     `json:"events"`   // that were verified
	FirstSeq    int64     `json:"firstSeq"` // 0 for none
	LastSeq     int64     `json:"lastSeq"`
	Hash        string    `json:"hash"` // of the last
	PrunedSeq   int64     `json:"prunedSeq"`
	Checkpoints int       `json:"checkpoints"` // that were verified, those from outside too
	SignedSeq   int64     `json:"signedSeq"`   // up to which a checkpoint stands
	Unsealed    int64     `json:"unsealed"`    // events that have no place yet
	Problems    []Problem `json:"problems"`
	Notes       []string  `json:"notes"` // what could not be verified
}

func (r *Report) add(p Problem) { r.Problems = append(r.Problems, p) }
