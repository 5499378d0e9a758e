package findings

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluice-data/sluice/models"
)

// Stalled is the finding about a writer that owes a commit, with all that is known about why.
func Stalled(w models.NamedWriter, e StallEvidence) models.Finding {
	f := aboutWriter(models.FindingStalledWriter, w)
	out := map[string]any{"writer": f.Subject, "state": "late", "dueAt": timeText(e.Due), "cadence": cadenceOf(w.TableWriter)}
	if w.LastCommitAt == nil {
		out["state"] = "never"
	} else {
		out["lastCommitAt"] = timeText(*w.LastCommitAt)
	}
	if w.LastCommit != nil {
		out["lastSnapshot"] = idText(*w.LastCommit)
	}
	if w.Job != "" {
		out["job"] = w.Job
	}
	if len(w.Watermark.V) > 0 {
		out["watermark"] = w.Watermark.V
	}
	if w.ValidTo != nil {
		out["validThrough"] = timeText(*w.ValidTo)
	}
	if e.Policy != "" {
		out["writePolicy"] = string(e.Policy)
	}
	if e.Arrivals.Looked {
		out["arrivals"] = arrivalsOf(e.Arrivals)
	}
	if token := tokenOf(w, e.Now); len(token) > 0 {
		out["token"] = token
	}
	if len(e.Refusals) > 0 {
		refusals := make([]any, len(e.Refusals))
		for i, r := range e.Refusals {
			refusals[i] = map[string]any{"at": timeText(r.At), "type": string(r.Type), "reason": r.Reason}
		}
		out["refusals"] = refusals
	}
	out["remedy"] = stallRemedy(w, e)
	f.Evidence.V = out
	return f
}

// cadenceOf writes how often a writer commits, in seconds.
func cadenceOf(w models.TableWriter) map[string]any {
	if w.Every > 0 {
		return map[string]any{"every": seconds(w.Every)}
	}
	return map[string]any{"median": seconds(w.Median), "spread": seconds(w.Spread)}
}

func arrivalsOf(a Arrivals) map[string]any {
	out := map[string]any{"files": a.Files, "bytes": a.Bytes, "partial": a.Partial}
	if a.Files > 0 {
		out["newest"] = timeText(a.Newest)
	}
	return out
}

func tokenOf(w models.NamedWriter, now time.Time) map[string]any {
	out := map[string]any{}
	if w.TokenID != "" {
		out["id"] = w.TokenID
	}
	if w.TokenExpiry != nil {
		out["expiresAt"] = timeText(*w.TokenExpiry)
		out["expired"] = w.TokenExpiry.Before(now)
	}
	if w.TokenGone {
		out["gone"] = true
	}
	return out
}

// stallRemedy says where to look first: what is known decides, the most certain cause before the others.
func stallRemedy(w models.NamedWriter, e StallEvidence) string {
	retire := fmt.Sprintf(" If it is gone for good, retire it: sluice writers retire %s", w.ID)
	switch {
	case w.TokenGone:
		return "Its token was revoked or is no longer known: give the job another one." + retire
	case w.TokenKind != models.AccessToken && w.TokenExpiry != nil && w.TokenExpiry.Before(e.Now):
		return "Its token has expired: give the job another one." + retire
	case e.Policy == models.GovernedOnly:
		return "The table's write policy is governed_only: engines get keys that only read, and their commits are refused. Set another one, or stop the job." + retire
	case len(e.Refusals) > 0:
		return "Its latest requests were refused: read the reasons." + retire
	case e.Arrivals.Files > 0:
		return "It writes files but does not commit them: look for a failing commit in the job's log, and keep the files until it commits again." + retire
	case w.LastCommitAt == nil:
		return "Nothing has come from this principal since it was declared: see whether the job runs, and as whom." + retire
	}
	return "See whether the job runs and has anything to read." + retire
}

// OfToken finds a working writer whose token ends soon or has ended. A token that an OAuth client gets anew by itself is
// none of that, and one that was revoked is somebody's decision.
func OfToken(w models.NamedWriter, now time.Time, warning time.Duration) (models.Finding, bool) {
	if w.State != models.WriterActive || w.TokenKind == models.AccessToken || w.TokenGone || w.TokenExpiry == nil || w.TokenExpiry.After(now.Add(warning)) {
		return models.Finding{}, false
	}
	if fromRunToRun(w) && (madeToBeShort(w, warning) || w.Every == 0 && w.TokenExpiry.Before(now)) {
		return models.Finding{}, false
	}
	f := aboutWriter(models.FindingTokenExpiring, w)
	f.SubjectKey = models.SubjectKey(string(f.Kind), w.ID, w.TokenID)
	f.Evidence.V = map[string]any{
		"writer": f.Subject, "token": tokenOf(w, now),
		"remedy": fmt.Sprintf("Mint another token for %s and give it to the job; the finding goes when the job commits with it.", w.Principal),
	}
	if w.LastCommitAt != nil {
		f.Evidence.V["lastCommitAt"] = timeText(*w.LastCommitAt)
	}
	return f, true
}

// fromRunToRun tells whether a writer is done after each commit, as streams are not: it needs no token until its next run, and
// nobody knows whether there is one unless it was declared.
func fromRunToRun(w models.NamedWriter) bool {
	return w.Kind == models.BatchWriter || w.Kind == models.ExpectedWriter
}

// madeToBeShort tells whether a token was made for no longer than the warning, so that it would end soon from its first moment:
// who makes such a token makes one for each run.
func madeToBeShort(w models.NamedWriter, warning time.Duration) bool {
	return w.TokenMinted != nil && w.TokenExpiry.Sub(*w.TokenMinted) <= warning
}

// OfAccess finds a writer that reaches the store with keys of its own, which nobody narrows to the table or takes away with
// its rights.
func OfAccess(w models.NamedWriter) (models.Finding, bool) {
	if w.State != models.WriterActive || w.Mode != models.UndelegatedAccess {
		return models.Finding{}, false
	}
	f := aboutWriter(models.FindingUndelegated, w)
	f.Evidence.V = map[string]any{
		"writer": f.Subject, "engine": strings.TrimSpace(w.Engine + " " + w.Version), "token": tokenOf(w, time.Time{}),
		"remedy": "Let the engine ask for credentials: set header.X-Iceberg-Access-Delegation to vended-credentials or remote-signing in its catalog's properties, " +
			"and take its own keys away.",
	}
	return f, true
}
