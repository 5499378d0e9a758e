package audit

import (
	"database/sql"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

func full() Record {
	return Record{
		ID: 7, EventID: "e", Type: "table.committed", At: 1_790_000_000_000_001, Principal: "p", TokenID: "t", Catalog: "c", Namespace: "n",
		Table: "n.t", TableUUID: "u", SnapshotID: sql.NullInt64{Int64: 9, Valid: true}, Allowed: 1, Reason: "r", RequestID: "q", Address: "a",
		Details: `{"x":1}`, DedupeKey: sql.NullString{String: "k", Valid: true},
	}
}

// Every column of an event is in its hash: what is added to the model has to be added here.
func TestEveryColumnIsHashed(t *testing.T) {
	chain := map[string]bool{"Seq": true, "PrevHash": true, "Hash": true}
	var columns []string
	for i := range reflect.TypeFor[Record]().NumField() {
		if name := reflect.TypeFor[Record]().Field(i).Name; !chain[name] {
			columns = append(columns, name)
		}
	}
	var fields []string
	for i := range reflect.TypeFor[models.AuditEvent]().NumField() {
		fields = append(fields, reflect.TypeFor[models.AuditEvent]().Field(i).Name)
	}
	require.Equal(t, fields, columns, "a record has the columns of the model")

	h := NewHasher()
	plain := full()
	before := h.Hash(Genesis, 1, &plain)
	require.Equal(t, before, h.Hash(Genesis, 1, &plain))
	seen := map[string]string{before: "nothing"}
	for _, name := range columns {
		changed := full()
		switch f := reflect.ValueOf(&changed).Elem().FieldByName(name); v := f.Interface().(type) {
		case string:
			f.SetString(v + "x")
		case int64:
			f.SetInt(v + 1)
		case sql.NullInt64:
			f.Set(reflect.ValueOf(sql.NullInt64{}))
		case sql.NullString:
			f.Set(reflect.ValueOf(sql.NullString{}))
		default:
			t.Fatalf("%s is not changed here", name)
		}
		got := h.Hash(Genesis, 1, &changed)
		require.NotContains(t, seen, got, "a change of %s is not seen", name)
		seen[got] = name
	}
	require.NotContains(t, seen, h.Hash(before, 1, &plain), "the hash before counts")
	require.NotContains(t, seen, h.Hash(Genesis, 2, &plain), "the place counts")
}

// No text can pass for the end of one column and the begin of the next, nor an empty one for none.
func TestHashesAreUnambiguous(t *testing.T) {
	h := NewHasher()
	hash := func(change func(*Record)) string {
		r := full()
		change(&r)
		return h.Hash(Genesis, 1, &r)
	}
	require.NotEqual(t, hash(func(r *Record) { r.Principal, r.TokenID = "ab", "c" }), hash(func(r *Record) { r.Principal, r.TokenID = "a", "bc" }))
	require.NotEqual(t, hash(func(r *Record) { r.Reason, r.RequestID = "", "x" }), hash(func(r *Record) { r.Reason, r.RequestID = "x", "" }))
	require.NotEqual(t, hash(func(r *Record) { r.DedupeKey = sql.NullString{Valid: true} }), hash(func(r *Record) { r.DedupeKey = sql.NullString{} }))
	require.NotEqual(t, hash(func(r *Record) { r.SnapshotID = sql.NullInt64{Valid: true} }), hash(func(r *Record) { r.SnapshotID = sql.NullInt64{} }))
}

// The hash of an event is for ever: a change of how it is made would call every sealed event wrong.
func TestHashesStay(t *testing.T) {
	r := full()
	require.Equal(t, "dc8403f085f038e6bf4eb5cc7b5b36048f6d3f2e7be3ba6de6c20a0468ac6768", NewHasher().Hash(Genesis, 1, &r))
	bare := Record{Type: "table.committed", Details: "{}"}
	require.Equal(t, "468732540cf9725d00fbc9b314c6fbae6acc2da4897f257407091b706c9c5e99", NewHasher().Hash(Genesis, 1, &bare))
}

func TestLinkedHashesStandOnOneAnother(t *testing.T) {
	records := []Record{full(), full(), full()}
	hashes := Link(Genesis, 10, records)
	h := NewHasher()
	require.Equal(t, h.Hash(Genesis, 11, &records[0]), hashes[0])
	require.Equal(t, h.Hash(hashes[0], 12, &records[1]), hashes[1])
	require.Equal(t, h.Hash(hashes[1], 13, &records[2]), hashes[2])
}
