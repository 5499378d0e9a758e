package dataplane

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/internal/tableread"
)

const (
	tokenVersion = 1
	// tokenLife is how long a page may be continued.
	tokenLife = 24 * time.Hour
	// tokenStep is what the content of tokens is padded to, in bytes, so that its length says little of keys.
	tokenStep = 64
	// longestToken bounds what is opened, in bytes.
	longestToken = 64 << 10
)

// pageToken says where a page ended, and of what. Clients get it sealed: they can neither read nor make one, and it is
// good for one principal, table and query alone.
type pageToken struct {
	Version  int    `json:"v"`
	Table    string `json:"t"`
	Snapshot fixed  `json:"s"`
	Schema   int    `json:"c"`
	Digest   []byte `json:"d"`
	Key      []byte `json:"k,omitempty"`
	Path     string `json:"p"`
	Row      int64  `json:"r"`
	Left     int64  `json:"l,omitempty"` // rows until the query's limit; 0: it has none
	Issued   int64  `json:"i"`           // Unix seconds
}

// fixed is a number that is written as long as any other: how long ids are is nobody's to learn.
type fixed int64

// MarshalText implements encoding.TextMarshaler.
func (f fixed) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(f)), nil } //nolint:gosec // the bits

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *fixed) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	*f = fixed(n) //nolint:gosec // likewise
	return err
}

// errWrongToken is the same whatever is wrong, so that nothing can be learnt by trying.
func errWrongToken() error {
	return fault.New(fault.Invalid,
		"The page token is not one of this query: it is of another query, table or principal, older than 24 hours, or what you may see has changed. Start again without it.")
}

func tokenBelongsTo(caller policy.Caller, table catalog.DataTable) []byte {
	return []byte("page\x00" + caller.PrincipalID + "\x00" + table.Row.UUID)
}

func (s *Service) sealToken(caller policy.Caller, table catalog.DataTable, t pageToken) (string, error) {
	t.Version, t.Table, t.Issued = tokenVersion, table.Row.ID, s.Now().Unix()
	plain, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	if over := len(plain) % tokenStep; over > 0 {
		plain = append(plain, bytes.Repeat([]byte{' '}, tokenStep-over)...)
	}
	sealed, err := s.Tokens.Seal(plain, tokenBelongsTo(caller, table))
	text := base64.RawURLEncoding.EncodeToString(sealed)
	if len(text) > longestToken {
		return "", fault.New(fault.TooLarge, "Table %s has values in its identity columns that are too long for a page token. Ask for a stream without pages as %s or %s.",
			table.Name, rows.NDJSON, rows.ArrowStream)
	}
	return text, err
}

func (s *Service) openToken(caller policy.Caller, table catalog.DataTable, text string) (*pageToken, error) {
	if len(text) > longestToken {
		return nil, errWrongToken()
	}
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || base64.RawURLEncoding.EncodeToString(sealed) != text { // there is one way to write a token
		return nil, errWrongToken()
	}
	plain, err := s.Tokens.Open(sealed, tokenBelongsTo(caller, table))
	if err != nil {
		return nil, errWrongToken()
	}
	var t pageToken
	if err := json.Unmarshal(plain, &t); err != nil {
		return nil, errWrongToken()
	}
	age := s.Now().Sub(time.Unix(t.Issued, 0))
	if t.Version != tokenVersion || t.Table != table.Row.ID || age > tokenLife {
		return nil, errWrongToken()
	}
	return &t, nil
}

// isOf tells whether the token is of the query with the digest.
func (t *pageToken) isOf(digest []byte) bool { return bytes.Equal(t.Digest, digest) }

// position is where the page ended; nil without a token.
func (t *pageToken) position() *tableread.Position {
	if t == nil {
		return nil
	}
	return &tableread.Position{Key: t.Key, Path: t.Path, Row: t.Row}
}

// digestOf stands for all that decides which rows a query gives, how they are shown and in which order. The snapshot is
// in the token itself.
func (q *query) digestOf() ([]byte, error) {
	exprs, all := policy.RowFilterFor(q.caller.RoleNames, q.table.Row.RowFilters.V)
	said, err := json.Marshal(struct {
		Select   []string
		Filter   json.RawMessage
		Where    string
		Limit    int64
		Snapshot *int64
		AsOf     time.Time
		Masks    map[string]policy.Mask
		Rows     []json.RawMessage
		AllRows  bool
		Order    []int
	}{
		q.in.Select, orNull(q.in.Filter), q.in.Where, q.in.Limit, q.in.SnapshotID, q.in.AsOf.UTC(), q.masks, exprs, all, q.order(),
	})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(said)
	return sum[:], nil
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
