package scan

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// What a token stands for.
const (
	planKind = "p1."
	taskKind = "t1."
)

// The bounds of filters and of the tokens that carry them, in bytes.
const (
	mostToken  = 2 * expression.MostBytes
	longFilter = 16 << 10 // repeated in one plan task alone
)

// pinned is a request whose snapshot and schema are settled, so that all pages of a plan read the same.
type pinned struct {
	Table      string          `json:"t"` // uuid
	Snapshot   *int64          `json:"s,omitempty"`
	Start      *int64          `json:"a,omitempty"` // with it, only what appends added after it
	Schema     int             `json:"c"`
	Filter     json.RawMessage `json:"f,omitempty"`
	IgnoreCase bool            `json:"i,omitempty"`
	Stats      []string        `json:"k,omitempty"`
	MinRows    int64           `json:"m,omitempty"`
	span
}

// span is a part of a plan: data manifests from From up to To, without the first Skip files of the first that match.
type span struct {
	From int `json:"x,omitempty"`
	Skip int `json:"y,omitempty"`
	To   int `json:"z,omitempty"`
}

func (s span) empty() bool { return s.From >= s.To }

// split cuts what is left into at most most parts of about equal numbers of manifests, into one when the filter is long.
func (s span) split(most, filterBytes int) []span {
	const fewest = 8 // manifests that are worth a part of their own
	if s.empty() {
		return nil
	}
	left := s.To - s.From
	parts := max(1, min(most, left/fewest))
	if filterBytes > longFilter {
		parts = 1
	}
	out := make([]span, parts)
	for i := range out {
		out[i] = span{From: s.From + left*i/parts, To: s.From + left*(i+1)/parts}
	}
	out[0].Skip = s.Skip
	return out
}

// token writes the request down. The sum in front tells a damaged token from a whole one; it is no secret, and need not
// be: a token asks for nothing that its bearer could not ask for by itself.
func (p pinned) token(kind string) (string, error) {
	plain, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(plain)
	var packed bytes.Buffer
	packed.Write(sum[:8])
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(plain); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return kind + base64.RawURLEncoding.EncodeToString(packed.Bytes()), nil
}

// openToken reads a token of the kind for the table.
func openToken(kind string, doc *metadata.Document, token string) (pinned, error) {
	pin, err := decodeToken(kind, token)
	if err != nil || pin.Table != doc.UUID() || !pin.standing(doc) {
		return pinned{}, noSuchToken(kind)
	}
	return pin, nil
}

func decodeToken(kind, token string) (pin pinned, err error) {
	body, ok := strings.CutPrefix(token, kind)
	if !ok || len(body) > mostToken {
		return pin, fault.New(fault.NotFound, "no token")
	}
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || len(raw) < 8 {
		return pin, fmt.Errorf("no token: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(raw[8:])), mostToken))
	if err != nil {
		return pin, err
	}
	if sum := sha256.Sum256(plain); !bytes.Equal(sum[:8], raw[:8]) {
		return pin, fault.New(fault.NotFound, "damaged")
	}
	if err := json.Unmarshal(plain, &pin); err != nil {
		return pin, err
	}
	if pin.From < 0 || pin.Skip < 0 || pin.To < pin.From {
		return pin, fault.New(fault.NotFound, "no span")
	}
	return pin, nil
}

// standing tells whether the snapshots and the schema are still there.
func (p pinned) standing(doc *metadata.Document) bool {
	for _, id := range []*int64{p.Snapshot, p.Start} {
		if id == nil {
			continue
		}
		if _, ok := doc.Snapshot(*id); !ok {
			return false
		}
	}
	_, ok, err := doc.Schema(p.Schema)
	return ok && err == nil
}
