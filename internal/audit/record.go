package audit

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strings"
)

// Genesis is the hash before the first event.
const Genesis = "0000000000000000000000000000000000000000000000000000000000000000"

// hashDomain keeps these hashes apart from all others, and names how they are made: it changes with Record.
const hashDomain = "sluice audit event 1\n"

// Record is an audit event as the database has it, text as it is stored, so that a hash depends on no encoder.
type Record struct {
	ID         int64
	EventID    string
	Type       string
	At         int64 // microseconds since 1970, UTC
	Principal  string
	TokenID    string
	Catalog    string
	Namespace  string
	Table      string
	TableUUID  string
	SnapshotID sql.NullInt64
	Allowed    int64 // 1 for true; a number, because SQLite keeps any
	Reason     string
	RequestID  string
	Address    string
	Details    string
	DedupeKey  sql.NullString

	Seq            int64  // 0 while it is not sealed
	PrevHash, Hash string // "" likewise
}

// Hasher computes hashes, one after the other.
type Hasher struct {
	sum hash.Hash
	buf []byte
}

// NewHasher makes a Hasher.
func NewHasher() *Hasher { return &Hasher{sum: sha256.New()} }

// Hash gives the hex SHA-256 of an event at a place in the chain, after the event whose hash is prev. Every column is in
// it, each with its length, so that no two events have one encoding.
func (h *Hasher) Hash(prev string, seq int64, r *Record) string {
	b := append(h.buf[:0], hashDomain...)
	b = appendText(b, prev)
	b = appendNumber(b, seq)
	b = appendNumber(b, r.ID)
	b = appendText(b, r.EventID)
	b = appendText(b, r.Type)
	b = appendNumber(b, r.At)
	for _, text := range [...]string{r.Principal, r.TokenID, r.Catalog, r.Namespace, r.Table, r.TableUUID} {
		b = appendText(b, text)
	}
	if b = append(b, byteOf(r.SnapshotID.Valid)); r.SnapshotID.Valid {
		b = appendNumber(b, r.SnapshotID.Int64)
	}
	b = appendNumber(b, r.Allowed)
	for _, text := range [...]string{r.Reason, r.RequestID, r.Address, r.Details} {
		b = appendText(b, text)
	}
	if b = append(b, byteOf(r.DedupeKey.Valid)); r.DedupeKey.Valid {
		b = appendText(b, r.DedupeKey.String)
	}
	h.buf = b
	h.sum.Reset()
	_, _ = h.sum.Write(b) // never fails
	var digest [sha256.Size]byte
	return hex.EncodeToString(h.sum.Sum(digest[:0]))
}

// Link gives the hash of each record, the first of which takes the place after the state's.
func Link(prev string, seq int64, records []Record) []string {
	h := NewHasher()
	hashes := make([]string, len(records))
	for i := range records {
		seq++
		prev = h.Hash(prev, seq, &records[i])
		hashes[i] = prev
	}
	return hashes
}

func appendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendNumber(b []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(n)) //nolint:gosec // the bits are meant
}

func byteOf(is bool) byte {
	if is {
		return 1
	}
	return 0
}

// isHash tells whether a text is written as Hash writes.
func isHash(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}
