package rows_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rows"
)

// TestValuesOfJSON: each value lands exactly as it was sent, or the row is refused with a sentence that says why.
func TestValuesOfJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		column string
		given  string
		want   string // as the value is written again, or a part of the message after !
	}{
		{"id", `9223372036854775807`, `"9223372036854775807"`},
		{"id", `"-9223372036854775808"`, `"-9223372036854775808"`},
		{"id", `9223372036854775808`, `!outside of what a long can hold`},
		{"id", `-1e3`, `"-1000"`},
		{"id", `5.0`, `"5"`},
		{"id", `5.5`, `!has a fraction`},
		{"id", `1e99999999999`, `!outside of what a long can hold`},
		{"id", `"a"`, `!is no whole number`},
		{"id", `""`, `!is no whole number`},
		{"id", `true`, `!must be a number, not true or false`},
		{"id", `null`, `!is required and is null`},
		{"flag", `"true"`, `!must be true or false, not text`},
		{"flag", `false`, `false`},
		{"count", `2147483648`, `!outside of what an int can hold`},
		{"count", `-2147483648`, `-2147483648`},
		{"ratio", `0.1`, `0.1`},
		{"ratio", `1e39`, `!outside of what the column can hold`},
		{"ratio", `"NaN"`, `"NaN"`},
		{"measure", `"-Infinity"`, `"-Infinity"`},
		{"measure", `"1.5"`, `!is no number; text may be "NaN"`},
		{"measure", `-0.0`, `-0.0`},
		{"price", `1.10`, `"1.10"`},
		{"price", `"1.100"`, `"1.10"`},
		{"price", `1.101`, `!it takes 2 digits after the point`},
		{"price", `12345678`, `!more digits than the column can hold: at most 7 before the point`},
		{"price", `"1,5"`, `!is no decimal number`},
		{"price", `1e-2`, `"0.01"`},
		{"wide", `"9999999999999999999999999999.9999999999"`, `"9999999999999999999999999999.9999999999"`},
		{"wide", `"-0.0000000001"`, `"-0.0000000001"`},
		{"day", `"2024-02-29"`, `"2024-02-29"`},
		{"day", `"2023-02-29"`, `!is no date as 2026-01-31`},
		{"day", `"2026-1-31"`, `!is no date as 2026-01-31`},
		{"day", `"-0044-03-15"`, `"-0044-03-15"`},
		{"day", `"+9999999-01-01"`, `!outside of what the column can hold`},
		{"day", `20484`, `!must be a date as text`},
		{"clock", `"12:34:56"`, `"12:34:56.000000"`},
		{"clock", `"12:34:56.1234560"`, `"12:34:56.123456"`},
		{"clock", `"12:34:56.1234567"`, `!it takes 6 digits after the second`},
		{"clock", `"24:00:00"`, `!is no time as`},
		{"ts", `"2026-01-31 12:34:56.5"`, `"2026-01-31T12:34:56.500000"`},
		{"ts", `"2026-01-31T12:34:56Z"`, `!has a time zone, and the column has none`},
		{"ts", `"2026-01-31T12:34:60"`, `!is no timestamp as`},
		{"ts", `"2026-01-31"`, `!is no timestamp as`},
		{"ts", `"+999999-01-01T00:00:00"`, `!outside of what the column can hold`},
		{"tstz", `"2026-01-31T12:34:56+02:30"`, `"2026-01-31T10:04:56.000000Z"`},
		{"tstz", `"2026-01-31T12:34:56"`, `!has no time zone`},
		{"tstz", `"2026-01-31T12:34:56.0000001Z"`, `!it takes 6 digits after the second`},
		{"ts_ns", `"1677-09-21T00:12:43.145224192"`, `"1677-09-21T00:12:43.145224192"`},
		{"ts_ns", `"1677-09-21T00:12:43.145224191"`, `!outside of what the column can hold`},
		{"ts_ns", `"2262-04-11T23:47:16.854775807"`, `"2262-04-11T23:47:16.854775807"`},
		{"ts_ns", `"2262-04-11T23:47:16.854775808"`, `!outside of what the column can hold`},
		{"name", `"\u00e9\ud83d\ude00\"\n"`, `"é😀\"\n"`},
		{"name", `"\ud83d"`, `!not Unicode`},
		{"name", "\"\xff\"", `!not Unicode`},
		{"name", `12`, `!must be text, not a number`},
		{"uid", `"01234567-89AB-cdef-0123-456789abcdef"`, `"01234567-89ab-cdef-0123-456789abcdef"`},
		{"uid", `"0123456789abcdef0123456789abcdef"`, `!is no UUID`},
		{"mac", `"AAECAwQF"`, `"AAECAwQF"`},
		{"mac", `"AAEC"`, `!has 3 bytes, and the column takes exactly 6`},
		{"blob", `""`, `""`},
		{"blob", `"AAE"`, `!is no base64`},
		{"blob", `"AAF="`, `!is no base64`},
		{"tags", `[]`, `[]`},
		{"tags", `["a",null]`, `!tags[1]: is required and is null`},
		{"tags", `{}`, `!must be an array, not an object`},
		{"attributes", `[{"key":"a","value":"1"},{"value":null,"key":"b"}]`, `[{"key":"a","value":"1"},{"key":"b","value":null}]`},
		{"attributes", `[{"key":"a"},{"key":"a"}]`, `!attributes[1]: has a key that another entry`},
		{"attributes", `[{"value":"1"}]`, `!attributes[0].key: is required and is missing`},
		{"attributes", `[{"key":"a","other":1}]`, `!attributes[0].other: is none of "key" and "value"`},
		{"attributes", `{"a":1}`, `!must be an array of {"key"`},
		{"attributes", `[1]`, `!attributes[0]: must be an object of`},
		{"address", `{"city":"Rome"}`, `{"city":"Rome","zip":null,"spots":null}`},
		{"address", `{"zip":1}`, `!address.city: is required and is missing`},
		{"address", `{"city":"Rome","spots":[{"x":1.5},null]}`, `{"city":"Rome","zip":null,"spots":[{"x":1.5},null]}`},
		{"address", `{"city":"Rome","spots":[{"x":1},{"x":"a"}]}`, `!address.spots[1].x: "a" is no number`},
		{"address", `{"city":"Rome","Zip":1}`, `!address.Zip: is no field of the table: did you mean "zip"?`},
		{"address", `{"city":"Rome","city":"Rome"}`, `!address.city: is given twice`},
	} {
		checkValue(t, c.column, c.given, c.want)
	}
}

func checkValue(t *testing.T, column, given, want string) {
	t.Helper()
	s := everyType()
	places := s.FieldIndices(column)
	s = schemaOf(s.Field(places[0]))
	r := mustReader(t, []byte(`[{"`+column+`": `+given+"}\t]"), rows.JSON, s, rows.ReadOptions{})
	got, err := readAll(t, r)
	if err != nil {
		t.Errorf("%s %s: %v", column, given, err)
		return
	}
	text := strings.TrimSuffix(rowsAs(t, s, got), "\n")
	if message, bad := strings.CutPrefix(want, "!"); bad {
		if r.Invalid() != 1 || text != "" || !strings.Contains(r.Errors()[0].Field+": "+r.Errors()[0].Message, message) {
			t.Errorf("%s %s: got %q and %v, want %q", column, given, text, r.Errors(), message)
		}
		return
	}
	if text != `{"`+column+`":`+want+`}` || r.Invalid() != 0 {
		t.Errorf("%s %s: got %s and %v, want %s", column, given, text, r.Errors(), want)
	}
}

func people() *arrow.Schema {
	return schemaOf(field(1, "id", arrow.PrimitiveTypes.Int32, true), field(2, "name", arrow.BinaryTypes.String, false))
}

// TestWrongRowsAreLeftOut: rows around a wrong one land, and each error has the row's number and field.
func TestWrongRowsAreLeftOut(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"id": 1, "name": "a"}`, ``, `{"name": "b"}`, `{"id": 3, "nme": "c"}`, `{"id": 4,`, `{"id": 5} 7`, `[6]`,
		`{"id": "x", "name": 1}`, `{"id": 8}`,
	}
	want := []rows.RowError{
		{Row: 2, Field: "id", Message: "is required and is missing"},
		{Row: 3, Field: "nme", Message: `is no column of the table: did you mean "name"?`},
		{Row: 4, Message: "is malformed JSON at byte 9 of the line: unexpected EOF"},
		{Row: 5, Message: "has something behind its object, at byte 9 of the line: send one object a line"},
		{Row: 6, Message: `must be an object of columns, such as {"id": 1}, not an array`},
		{Row: 7, Field: "id", Message: `"x" is no whole number`},
		{Row: 7, Field: "name", Message: "must be text, not a number"},
	}
	r := mustReader(t, []byte(strings.Join(lines, "\r\n")), rows.NDJSON, people(), rows.ReadOptions{KeepText: true})
	got, err := readAll(t, r)
	if err != nil || len(got) != 1 {
		t.Fatalf("%d batches, %v", len(got), err)
	}
	if text := rowsAs(t, people(), got); text != `{"id":1,"name":"a"}`+"\n"+`{"id":8,"name":null}`+"\n" {
		t.Errorf("landed: %s", text)
	}
	if fmt.Sprint(got[0].Numbers) != "[1 8]" || string(got[0].Text(1)) != `{"id": 8}` {
		t.Errorf("numbers %v, text %s", got[0].Numbers, got[0].Text(1))
	}
	if fmt.Sprint(r.Errors()) != fmt.Sprint(want) || r.Invalid() != 6 || len(got[0].Bad) != 6 {
		t.Errorf("%d invalid, got\n%v\nwant\n%v", r.Invalid(), r.Errors(), want)
	}
	if bad := got[0].Bad[3]; bad.Number != 5 || string(bad.Text) != `{"id": 5} 7` {
		t.Errorf("bad row %d: %s", bad.Number, bad.Text)
	}
}

func TestOnlyTheFirstErrorsAreKept(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("{}\n", 1000)
	r := mustReader(t, []byte(body), rows.NDJSON, people(), rows.ReadOptions{BatchRows: 64, MostErrors: 7})
	got, err := readAll(t, r)
	if err != nil || r.Invalid() != 1000 || len(r.Errors()) != 7 || len(got) != 16 {
		t.Errorf("%d invalid, %d kept, %d batches, %v", r.Invalid(), len(r.Errors()), len(got), err)
	}
}

// TestBrokenArrays: what cannot be told apart into rows ends the reading and says where.
func TestBrokenArrays(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`[{"id":1},{"id":2`:      "ends at byte 17, inside or after row 2",
		`[{"id":1}`:              "ends at byte 9, inside or after row 2",
		`[{"id":1},{"id" 2}]`:    "The JSON of row 2 is malformed at byte 16",
		`[{"id":1},]`:            "The JSON of row 2 is malformed at byte",
		`[{"id":1}] [{"id":2}]`:  "Something follows the JSON array of the rows",
		`[{"id":1}]{`:            "Something follows the JSON array of the rows",
		`{"id":1}`:               "must be one JSON array of objects",
		`nonsense`:               "The JSON of row 1 is malformed at byte 1",
		`[{"id":1},{"id":1e}]`:   "The JSON of row 2 is malformed at byte",
		"[{\"id\":1},{\"i\x01\"": "The JSON of row 2 is malformed at byte",
	} {
		r := mustReader(t, []byte(body), rows.JSON, people(), rows.ReadOptions{})
		if _, err := readAll(t, r); !fault.Is(err, fault.Invalid) || !strings.Contains(fault.PublicMessage(err), want) {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
		if _, err := r.Next(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: the reading goes on after an error: %v", body, err)
		}
	}
}

func TestNoRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f    rows.Format
		body string
	}{{rows.JSON, ""}, {rows.JSON, " [ ]\n"}, {rows.NDJSON, ""}, {rows.NDJSON, "\n \n"}, {rows.ArrowStream, ""}} {
		r := mustReader(t, []byte(c.body), c.f, people(), rows.ReadOptions{})
		if got, err := readAll(t, r); err != nil || len(got) != 0 {
			t.Errorf("%s %q: %d batches, %v", c.f, c.body, len(got), err)
		}
	}
}

// TestLargeRows: a row beyond the bound is refused in a stream of lines and ends one array.
func TestLargeRows(t *testing.T) {
	t.Parallel()
	large := `{"id":2,"name":"` + strings.Repeat("x", 200<<10) + `"}`
	o := rows.ReadOptions{RowBytes: 1 << 10, KeepText: true}
	r := mustReader(t, []byte(`{"id":1}`+"\n"+large+"\n"+`{"id":3}`), rows.NDJSON, people(), o)
	got, err := readAll(t, r)
	if err != nil || rowsAs(t, people(), got) != `{"id":1,"name":null}`+"\n"+`{"id":3,"name":null}`+"\n" {
		t.Errorf("%v, %v", err, r.Errors())
	}
	if bad := got[0].Bad[0]; len(bad.Text) != 1<<10 || bad.Errors[0].Message != "is larger than a row may be: at most 1024 bytes" {
		t.Errorf("%d bytes of text, %v", len(bad.Text), bad.Errors)
	}
	r = mustReader(t, []byte(`[{"id":1},`+large+`]`), rows.JSON, people(), o)
	if _, err := readAll(t, r); !fault.Is(err, fault.TooLarge) || fault.PublicMessage(err) != "Row 2 is larger than a row may be: at most 1024 bytes." {
		t.Errorf("array: %v", err)
	}
	// Every NULL of a list of wide values takes their room: the text is small and what it stands for is not.
	s := schemaOf(field(1, "l", arrow.ListOfField(field(2, "element", &arrow.FixedSizeBinaryType{ByteWidth: 1 << 20}, false)), false))
	nulls := `{"l":[null` + strings.Repeat(",null", 1<<17) + `]}`
	r = mustReader(t, []byte(nulls), rows.NDJSON, s, rows.ReadOptions{RowBytes: 2 << 20})
	if _, err := readAll(t, r); err != nil || r.Invalid() != 1 || !strings.Contains(r.Errors()[0].Message, "is larger than") {
		t.Errorf("list: %v, %v", err, r.Errors())
	}
}

func TestBatchesAreBounded(t *testing.T) {
	t.Parallel()
	line := `{"id":1,"name":"` + strings.Repeat("x", 1000) + `"}` + "\n"
	r := mustReader(t, bytes.Repeat([]byte(line), 1000), rows.NDJSON, people(), rows.ReadOptions{BatchBytes: 64 << 10})
	got, err := readAll(t, r)
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, b := range got {
		total += b.Rows.NumRows()
		if b.Rows.NumRows() > 66 {
			t.Errorf("a batch of 64 KiB has %d rows of 1 KiB", b.Rows.NumRows())
		}
	}
	if total != 1000 {
		t.Errorf("%d rows of 1000", total)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	s := everyType()
	o := rows.ReadOptions{Defaults: map[int][]byte{
		2: []byte("true"), 3: []byte("7"), 6: []byte(`"1.50"`), 8: []byte(`"2020-01-02"`), 14: []byte(`"un\"known"`),
		16: []byte(`"0a0B0c0D0e0F"`), 18: []byte("[]"), 24: []byte(`"Rome"`), 11: []byte(`"2020-01-02T03:04:05+00:00"`),
	}}
	for _, f := range []rows.Format{rows.NDJSON, rows.JSON} {
		body := `{"id":1,"address":{},"count":null}`
		if f == rows.JSON {
			body = "[" + body + "]"
		}
		r := mustReader(t, []byte(body), f, s, o)
		got, err := readAll(t, r)
		if err != nil || r.Invalid() != 0 {
			t.Fatalf("%v, %v", err, r.Errors())
		}
		text := rowsAs(t, s, got)
		for _, want := range []string{
			`"flag":true`, `"count":null`, `"price":"1.50"`, `"day":"2020-01-02"`, `"name":"un\"known"`, `"mac":"CgsMDQ4P"`,
			`"tags":[]`, `"address":{"city":"Rome"`, `"tstz":"2020-01-02T03:04:05.000000Z"`, `"blob":null`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is not in %s", want, text)
			}
		}
	}
	_, err := rows.NewReader(strings.NewReader(""), rows.JSON, s, rows.ReadOptions{Defaults: map[int][]byte{16: []byte(`"0g"`)}})
	if !fault.Is(err, fault.Unsupported) {
		t.Errorf("a default that cannot be read: %v", err)
	}
}

// TestABodyThatBreaksOff: a client that is gone is no malformed JSON, and what the body itself fails with is handed on.
func TestABodyThatBreaksOff(t *testing.T) {
	t.Parallel()
	limit := fault.New(fault.TooLarge, "too much")
	for _, f := range rows.Formats() {
		body := encode(t, f, everyType(), randomBatch(everyType(), newRandom(1), 20))
		for cause, want := range map[error]fault.Code{io.ErrClosedPipe: fault.Invalid, limit: fault.TooLarge} {
			from := io.MultiReader(bytes.NewReader(body[:len(body)/2]), iotest.ErrReader(cause))
			r, err := rows.NewReader(from, f, everyType(), rows.ReadOptions{})
			if err == nil {
				_, err = readAll(t, r)
			}
			if !fault.Is(err, want) || !errors.Is(err, cause) {
				t.Errorf("%s: %v for %v", f, err, cause)
			}
		}
	}
}
