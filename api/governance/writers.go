package governance

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/events"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

type writerAnswer struct {
	ID           string            `json:"id"`
	Ref          string            `json:"ref,omitempty"` // of the table, as of the last commit
	Catalog      string            `json:"catalog"`
	Table        string            `json:"table"` // with its namespace
	TableUUID    string            `json:"tableUuid"`
	Kind         models.WriterKind `json:"kind"`
	Key          string            `json:"key"` // what tells it from others of its kind
	Principal    string            `json:"principal"`
	Engine       string            `json:"engine,omitempty"`
	Version      string            `json:"version,omitempty"`
	Client       string            `json:"client,omitempty"`
	Job          string            `json:"job,omitempty"` // that commits now
	Branch       string            `json:"branch,omitempty"`
	Watermark    map[string]int64  `json:"watermark"`
	ValidThrough *time.Time        `json:"validThrough"`

	FirstCommitAt  *time.Time       `json:"firstCommitAt"`
	LastCommitAt   *time.Time       `json:"lastCommitAt"`
	LastSnapshotID *string          `json:"lastSnapshotId"`
	Commits        int64            `json:"commits"`
	Cadence        cadenceAnswer    `json:"cadence"`
	DueAt          *time.Time       `json:"dueAt"` // null: it owes no commit
	State          writerState      `json:"state"`
	SecondsSince   *float64         `json:"secondsSinceLastCommit"`
	Credential     credentialAnswer `json:"credential"`
	RetiredAt      *time.Time       `json:"retiredAt,omitempty"`
	RetiredBy      string           `json:"retiredBy,omitempty"`
	CreatedAt      time.Time        `json:"createdAt"`
}

// cadenceAnswer is how often a writer commits, in words such as 10m0s.
type cadenceAnswer struct {
	Learned *learnedAnswer `json:"learned"` // null while it has not committed often enough
	Every   *string        `json:"every"`   // as somebody declared
}

type learnedAnswer struct {
	Median string `json:"median"`
	Spread string `json:"spread"`
}

type credentialAnswer struct {
	Mode      models.DelegationMode `json:"mode,omitempty"` // how it reaches the files
	TokenID   string                `json:"tokenId,omitempty"`
	ExpiresAt *time.Time            `json:"tokenExpiresAt"`
	Gone      bool                  `json:"tokenGone"`
}

// writerState is what people want to know of a writer first.
type writerState string

const (
	writerActive   writerState = "active"
	writerLate     writerState = "late"  // it owes a commit
	writerNever    writerState = "never" // it was declared, and never committed
	writerFinished writerState = "finished"
	writerRetired  writerState = "retired"
)

// stored gives the state of the rows that may be in a state.
func (s writerState) stored() models.WriterState {
	switch s {
	case "":
		return ""
	case writerFinished:
		return models.WriterFinished
	case writerRetired:
		return models.WriterRetired
	}
	return models.WriterActive
}

// mostReads bounds how many pages of writers are read to find those of a state that no row has.
const mostReads = 20

func (h *Handler) listWriters(c *gin.Context) error {
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	state, err := knownState(c.Query("state"))
	if err != nil {
		return err
	}
	out, filter := list[writerAnswer]{Items: []writerAnswer{}}, models.WriterFilter{State: state.stored(), After: c.Query("after"), Limit: limit}
	for range mostReads {
		rows, err := h.Writers.Writers(c.Request.Context(), wire.Caller(c), c.Query("table"), filter)
		if err != nil {
			return err
		}
		for _, row := range rows {
			w := h.writerOf(row)
			if filter.After = w.ID; state == "" || w.State == state {
				out.Items = append(out.Items, w)
			}
			if out.Next = w.ID; len(out.Items) == limit {
				return wire.JSON(c, http.StatusOK, out)
			}
		}
		if len(rows) < limit {
			out.Next = ""
			break
		}
	}
	return wire.JSON(c, http.StatusOK, out)
}

// knownState refuses a state that no writer has: a typing mistake would look as if all were well.
func knownState(name string) (writerState, error) {
	states := []writerState{writerActive, writerLate, writerNever, writerFinished, writerRetired}
	if name == "" || slices.Contains(states, writerState(name)) {
		return writerState(name), nil
	}
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = string(s)
	}
	return "", fault.New(fault.Invalid, "The parameter state must be one of %s.", strings.Join(names, ", "))
}

func (h *Handler) showWriter(c *gin.Context) error {
	w, err := h.Writers.Writer(c.Request.Context(), wire.Caller(c), c.Param("id"))
	return h.answerWriter(c, http.StatusOK, w, err)
}

func (h *Handler) declareWriter(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	body.Only("table", "principal", "every")
	table, principal, every := body.String("table"), body.String("principal"), readEvery(body)
	if every == nil {
		body.Fail(everyField, everyForm)
	}
	if err := body.Err(); err != nil {
		return err
	}
	w, err := h.Writers.DeclareWriter(c.Request.Context(), wire.Caller(c), table, principal, *every)
	return h.answerWriter(c, http.StatusCreated, w, err)
}

func (h *Handler) setWriter(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	body.Only(everyField)
	every := readEvery(body)
	if !body.Given(everyField) {
		body.Fail(everyField, `is required: a length of time such as "10m", or null for the cadence that is learned`)
	}
	if err := body.Err(); err != nil {
		return err
	}
	w, err := h.Writers.SetWriterCadence(c.Request.Context(), wire.Caller(c), c.Param("id"), every)
	return h.answerWriter(c, http.StatusOK, w, err)
}

func (h *Handler) retireWriter(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	body.Only("note")
	note := body.Text("note", longestNote)
	if err := body.Err(); err != nil {
		return err
	}
	w, err := h.Writers.RetireWriter(c.Request.Context(), wire.Caller(c), c.Param("id"), note)
	return h.answerWriter(c, http.StatusOK, w, err)
}

const (
	everyField = "every"
	everyForm  = `must be a length of time such as "10m" or "24h"`
)

// readEvery reads a declared cadence; nil where there is none, or null.
func readEvery(body *wire.Fields) *time.Duration {
	if !body.Has(everyField) {
		return nil
	}
	every, err := models.ParseDuration(body.String(everyField))
	if err != nil || every <= 0 {
		body.Fail(everyField, everyForm)
	}
	return &every
}

func (h *Handler) answerWriter(c *gin.Context, status int, w models.NamedWriter, err error) error {
	if err != nil {
		return err
	}
	return wire.JSON(c, status, h.writerOf(w))
}

func (h *Handler) writerOf(w models.NamedWriter) writerAnswer {
	out := writerAnswer{
		ID: w.ID, Ref: events.Ref(w.CatalogName, "", w.Table), Catalog: w.CatalogName, Table: w.Table, TableUUID: w.TableUUID,
		Kind: w.Kind, Key: w.Key, Principal: w.Principal, Engine: w.Engine, Version: w.Version, Client: w.Client, Job: w.Job,
		Branch: w.Ref, Watermark: w.Watermark.V, ValidThrough: w.ValidTo,
		FirstCommitAt: w.FirstCommitAt, LastCommitAt: w.LastCommitAt, LastSnapshotID: idString(w.LastCommit), Commits: w.Commits,
		Cadence: cadenceOf(w.TableWriter), RetiredAt: w.RetiredAt, RetiredBy: w.RetiredBy, CreatedAt: w.CreatedAt,
		Credential: credentialAnswer{Mode: w.Mode, TokenID: w.TokenID, ExpiresAt: w.TokenExpiry, Gone: w.TokenGone},
	}
	if out.Watermark == nil {
		out.Watermark = map[string]int64{}
	}
	now := h.Now()
	if w.LastCommitAt != nil {
		seconds := max(0, now.Sub(*w.LastCommitAt).Seconds())
		out.SecondsSince = &seconds
	}
	due, owes := writers.Due(w.TableWriter, h.Limits)
	if owes {
		out.DueAt = &due
	}
	out.State = stateOf(w.TableWriter, owes && now.After(due))
	return out
}

func stateOf(w models.TableWriter, late bool) writerState {
	switch {
	case w.State == models.WriterRetired:
		return writerRetired
	case w.State == models.WriterFinished:
		return writerFinished
	case w.FirstCommitAt == nil:
		return writerNever
	case late:
		return writerLate
	}
	return writerActive
}

func cadenceOf(w models.TableWriter) cadenceAnswer {
	var out cadenceAnswer
	if w.Median > 0 {
		out.Learned = &learnedAnswer{Median: millis(w.Median), Spread: millis(w.Spread)}
	}
	if w.Every > 0 {
		every := millis(w.Every)
		out.Every = &every
	}
	return out
}

func millis(n int64) string { return (time.Duration(n) * time.Millisecond).String() }

func (h *Handler) setDuplicateCommits(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	body.Only("mode")
	mode := models.DuplicateMode(body.String("mode"))
	if mode != models.AuditDuplicates && mode != models.RejectDuplicates {
		body.Fail("mode", "must be %s or %s", models.AuditDuplicates, models.RejectDuplicates)
	}
	if err := body.Err(); err != nil {
		return err
	}
	state, err := h.Policies.SetDuplicateCommits(c.Request.Context(), wire.Caller(c), c.Param("ref"), mode)
	return h.answerTable(c, state, err)
}
