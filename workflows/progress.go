package workflows

import "go.temporal.io/sdk/workflow"

// Progress is the answer to ProgressQuery.
type Progress struct {
	Stage     string `json:"stage"`           // what is being done now
	Table     string `json:"table,omitempty"` // to which table
	Total     int    `json:"total"`           // commits, or writers or tables of a sweep or purge, known so far
	Done      int    `json:"done"`            // of Total
	Recorded  int    `json:"recorded"`        // audit events written
	Abandoned int    `json:"abandoned"`       // commits whose table or snapshot is gone
	Failed    int    `json:"failed"`          // tables
}

// The stages.
const (
	stageDetecting  = "detecting"
	stageRecounting = "recounting"
	stageRestamping = "restamping"
	stageRecording  = "recording"
	stageFiling     = "recording-files"
	stageSweeping   = "sweeping"
	stageChecking   = "checking"
	stageWatching   = "watching-writers"
	stageRating     = "rating-tables"
	stageTidying    = "tidying"
	stageClaiming   = "claiming"
	stagePurging    = "purging"
	stageDone       = "done"
)

// answer registers the query before anything can block.
func (p *Progress) answer(ctx workflow.Context) error {
	return workflow.SetQueryHandlerWithOptions(ctx, ProgressQuery, func() (Progress, error) { return *p, nil },
		workflow.QueryHandlerOptions{Description: "How far the work is."})
}
