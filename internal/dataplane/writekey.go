package dataplane

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/policy"
)

// writeOnce is write under an Idempotency-Key. What the request says is known only when its body was read, so that the
// claim gets its hash just before the commit that settles it. Refusals are not kept: nothing landed, and a repeat is
// judged anew.
func (s *Service) writeOnce(ctx context.Context, caller policy.Caller, table catalog.DataTable, in WriteInput) (WriteResult, error) {
	if s.Keys == nil {
		return WriteResult{}, fault.New(fault.Unsupported, "This server keeps no Idempotency-Keys: leave the header out.")
	}
	key, err := idempotency.ParseKey(in.Key)
	if err != nil {
		return WriteResult{}, err
	}
	claim := &idempotency.Claim{PrincipalID: caller.PrincipalID, Key: key, Route: "WRITE " + table.Row.ID}
	_, end, err := s.Keys.Begin(ctx, claim)
	if fault.Is(err, fault.Unprocessable) { // it is settled, with the hash that this request has or with another
		return s.repeated(ctx, claim, in)
	}
	if err != nil {
		return WriteResult{}, err
	}
	defer end()
	out, err := s.write(ctx, caller, table, in, claim)
	if idempotency.IsUsed(err) {
		return s.kept(ctx, claim)
	}
	if err == nil && out.AuditID == "" { // no commit settled it
		if kept := s.Keys.Settle(ctx, claim, nil); kept != nil {
			return readResult(kept.Result)
		}
	}
	return out, err
}

// repeated reads a request whose key is settled, and answers as it was answered before if it says the same.
func (s *Service) repeated(ctx context.Context, claim *idempotency.Claim, in WriteInput) (WriteResult, error) {
	digest := sha256.New()
	if _, err := io.Copy(digest, in.Body); err != nil {
		return WriteResult{}, broken(err)
	}
	claim.RequestHash = requestHash(in, digest)
	return s.kept(ctx, claim)
}

// kept answers with what a claim was settled with.
func (s *Service) kept(ctx context.Context, claim *idempotency.Claim) (WriteResult, error) {
	row, err := s.Keys.Kept(ctx, claim)
	switch {
	case err != nil:
		return WriteResult{}, err
	case row == nil: // it was forgotten just now
		return WriteResult{}, idempotency.Used()
	}
	if err := idempotency.Refusal(*row); err != nil {
		return WriteResult{}, err
	}
	return readResult(row.Result)
}

func readResult(kept string) (WriteResult, error) {
	var out WriteResult
	if kept == "" {
		return out.filled(), nil
	}
	if err := json.Unmarshal([]byte(kept), &out); err != nil {
		return out, fault.Wrap(err, fault.Internal, "What this Idempotency-Key was settled with cannot be read. Look at the table's writes instead.")
	}
	return out.filled(), nil
}

// requestHash says what a request says: how to write, and what.
func requestHash(in WriteInput, body hash.Hash) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\n%s\n%s\n%s\n", in.Mode, in.Format, in.Label, in.OnViolation)
	h.Write(body.Sum(nil))
	return hex.EncodeToString(h.Sum(nil))
}

// broken is the error of a body that could not be read to its end.
func broken(err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return err
	}
	return fault.Wrap(err, fault.Invalid, "The body broke off. Send it again.")
}
