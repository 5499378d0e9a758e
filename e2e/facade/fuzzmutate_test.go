package facade

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// damage spoils a request in one way; false: it does not apply.
type damage struct {
	name string
	do   func(*fuzzer, *shot) bool
}

func damages() []damage {
	return []damage{
		{"wrong type", onNode(func(f *fuzzer, _ any) any { return f.oddValue() })},
		{"odd number", onNode(func(f *fuzzer, _ any) any { return f.oddNumber() })},
		{"odd string", onNode(func(f *fuzzer, _ any) any { return f.oddName() })},
		{"deep nesting", onNode(func(f *fuzzer, _ any) any { return f.nested() })},
		{"list changed", onNode(changeList)},
		{"field gone", onObject(dropField)},
		{"field added", onObject(addField)},
		{"field twice", (*fuzzer).duplicateField},
		{"bytes", (*fuzzer).breakBytes},
		{"coding", (*fuzzer).breakCoding},
		{"name in the path", (*fuzzer).breakName},
		{"target", (*fuzzer).breakTarget},
		{"method", (*fuzzer).breakMethod},
		{"query", (*fuzzer).breakQuery},
		{"header", (*fuzzer).breakHeader},
		{"credentials", (*fuzzer).breakCredentials},
		{"length", (*fuzzer).breakLength},
		{"form", (*fuzzer).breakForm},
	}
}

// mutate spoils a request in one to three ways.
func (f *fuzzer) mutate(s *shot) {
	all := damages()
	for range 1 + f.r.IntN(8)/6 + f.r.IntN(8)/6 {
		for range 20 {
			m := all[f.r.IntN(len(all))]
			if m.do(f, s) {
				s.mutated = append(s.mutated, m.name)
				break
			}
		}
	}
}

func (f *fuzzer) oddName() string {
	return pick(f.r, "", " ", ".", "..", "/", "\x00", "a\x1fb", "a\nb", "\x7f", "\ufeff", "\u202e", "\ufffd", "a/../b", "%2e%2e", "main", "db", "null", "-1", "NaN",
		"{\"a\":1}", "🧊", "e\u0301", "1970-01-01", "s3://elsewhere/x", "file:///etc/passwd", "$ref", "decimal(99,99)", "bucket[0]", strings.Repeat("x", 1025), strings.Repeat("é", 600))
}

func (f *fuzzer) oddNumber() any {
	return json.Number(pick(f.r, "0", "-0", "-1", "1", "2147483648", "-9223372036854775808", "9223372036854775807", "9223372036854775808", "1.5", "1e3", "1e400", "1E-400",
		"123456789012345678901234567890", "0.1e1"))
}

func (f *fuzzer) oddValue() any {
	return pick[any](f.r, nil, true, false, "", "x", 0, -1, 1.5, []any{}, []any{nil}, []any{[]any{}}, map[string]any{}, map[string]any{"": nil}, map[string]any{"type": "x"})
}

func (f *fuzzer) nested() any {
	var v any = "deep"
	for range pick(f.r, 5, 40, 400, 1200) {
		if f.chance(50) {
			v = []any{v}
		} else {
			v = map[string]any{pick(f.r, "type", "child", "left", "element", "fields", "x"): v}
		}
	}
	return v
}

// onNode replaces a random node of the body.
func onNode(change func(*fuzzer, any) any) func(*fuzzer, *shot) bool {
	return func(f *fuzzer, s *shot) bool {
		if s.body == nil || s.raw != nil {
			return false
		}
		s.body = tree(s.payload()) // what others hold of it stays as it was
		at, n := f.r.IntN(size(s.body)), 0
		s.body = replace(s.body, &n, at, func(v any) any { return change(f, v) })
		return true
	}
}

// onObject changes a random object of the body.
func onObject(change func(*fuzzer, map[string]any)) func(*fuzzer, *shot) bool {
	return onNode(func(f *fuzzer, v any) any {
		if object, ok := v.(map[string]any); ok {
			change(f, object)
			return object
		}
		return v
	})
}

func size(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			n += size(one)
		}
	case map[string]any:
		for _, one := range v {
			n += size(one)
		}
	}
	return n
}

// replace changes the node that is at in the order of a walk; n counts.
func replace(v any, n *int, at int, change func(any) any) any {
	if *n++; *n-1 == at {
		return change(v)
	}
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = replace(v[i], n, at, change)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = replace(v[name], n, at, change)
		}
	}
	return v
}

func changeList(f *fuzzer, v any) any {
	list, ok := v.([]any)
	switch {
	case !ok:
		return []any{v}
	case len(list) == 0 || f.chance(30):
		return []any{}
	}
	f.r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return append(list, list[0])
}

func dropField(f *fuzzer, object map[string]any) {
	if len(object) > 0 {
		delete(object, anyOf(f.r, object))
	}
}

// addField adds a field. None differs from a known one by case alone: iceberg-go, which reads what comes of it, would mix them up.
func addField(f *fuzzer, object map[string]any) {
	name := pick(f.r, "overwrite", "stage-create", "identifier", "location", "x", "", "name ", "__proto__", "snapshot-id", "type", "action")
	object[name] = f.oddValue()
	if f.chance(50) {
		object[name] = true
	}
}

func (f *fuzzer) duplicateField(s *shot) bool {
	raw := s.payload()
	object, _ := s.body.(map[string]any)
	if s.raw != nil || len(object) == 0 {
		return false
	}
	name, _ := json.Marshal(anyOf(f.r, object))
	s.raw = append([]byte("{"+string(name)+":"+pick(f.r, "null", `"x"`, "{}", "[]")+","), raw[1:]...)
	return true
}

// spoil breaks a document: some values of it, or its bytes.
func (f *fuzzer) spoil(raw []byte) []byte {
	s := &shot{body: tree(raw)}
	for range 1 + f.r.IntN(2) {
		m := damages()[f.r.IntN(9)]
		m.do(f, s)
	}
	return s.payload()
}

func (f *fuzzer) breakBytes(s *shot) bool {
	raw := s.payload()
	if len(raw) == 0 || s.form != nil {
		return false
	}
	at := f.r.IntN(len(raw))
	s.raw = pick(f.r, raw[:at], append(slices.Clone(raw), "}{"...), slices.Concat(raw[:at], []byte{0xff, 0xfe}, raw[at:]), slices.Concat([]byte("\xef\xbb\xbf"), raw),
		[]byte(" "), []byte("null"), []byte("[]"), []byte(`"x"`), []byte("NaN"), []byte(`{"name":NaN}`), []byte(`{"name":Infinity}`), []byte(`{'name':'x'}`), []byte("{name:1}"),
		[]byte(`{"name":"\ud800"}`), []byte("<xml/>"), bytes.ReplaceAll(raw, []byte(`"`), []byte("'")), bytes.Replace(raw, []byte(":"), []byte(`:"\u0000",":":`), 1),
		slices.Insert(slices.Clone(raw), at, byte(f.r.Uint32())), bytes.Repeat([]byte("["), 100000))
	if f.chance(2) {
		s.raw = bytes.Repeat([]byte(" "), maxFuzzBody+10)
	}
	return true
}

// breakCoding compresses the body, or says that it is.
func (f *fuzzer) breakCoding(s *shot) bool {
	raw := s.payload()
	if len(raw) == 0 || s.form != nil {
		return false
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(raw)
	_ = w.Close()
	packed := b.Bytes()
	switch f.r.IntN(6) {
	case 0:
		s.raw = packed
	case 1:
		s.raw = packed[:f.r.IntN(len(packed))]
	case 2:
		s.raw = append(slices.Clone(packed), "junk"...)
	case 3:
		packed[f.r.IntN(len(packed))] ^= 0x55
		s.raw = packed
	case 4:
		s.raw = []byte("\x1f\x8b\x08junk")
	}
	s.set("Content-Encoding", pick(f.r, "gzip", "gzip", "gzip", "x-gzip", "GZIP", "br", "gzip, gzip", "identity", "\x80"))
	return true
}

func (f *fuzzer) breakName(s *shot) bool {
	if len(s.params) == 0 || s.target != "" {
		return false
	}
	name := anyOf(f.r, s.params)
	s.params[name] = f.oddName()
	if name == "namespace" && f.chance(30) {
		s.params[name] = pick(f.r, "\x1f", "a\x1f", "\x1fb", "a\x1f\x1fb", strings.Repeat("d\x1f", 40)+"d")
	}
	return s.params[name] != "" || s.breakInto("//") // an empty name is another route
}

func (s *shot) breakInto(target string) bool {
	s.op, s.target = "", target
	return true
}

func (f *fuzzer) breakTarget(s *shot) bool {
	if s.target != "" || s.op == "" {
		return false
	}
	path := s.path()
	bare, query, _ := strings.Cut(path, "?")
	return s.breakInto(pick(f.r, bare+"/", bare+"//", strings.Replace(path, "/v1/", "/v1/v1/", 1), strings.Replace(path, "/v1/", "/v2/", 1), strings.Replace(path, "/", "//", 1+f.r.IntN(5)),
		bare+"%", bare+"%zz", bare+"%ff", bare+"%C0%AF", bare+"/..", bare+"/../..", strings.Replace(bare, "main", "no%20such", 1), strings.Replace(bare, "main", "%00", 1), bare+"%2F",
		bare+"?"+query+"&%zz", bare+"?%ff=%ff", bare+"?;", bare+" x", bare+"\x01", bare+"#x", bare+strings.Repeat("x", 140<<10), strings.ToUpper(bare), "*", "x", bare+"/metadata", bare+";v=1"))
}

func (f *fuzzer) breakMethod(s *shot) bool {
	if s.op == "" {
		return false
	}
	path := s.path()
	s.method = pick(f.r, "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW", "get", "PROPFIND")
	return s.breakInto(path)
}

func (f *fuzzer) breakQuery(s *shot) bool {
	if s.target != "" {
		return false
	}
	s.query = append(s.query, [2]string{
		pick(f.r, "pageToken", "pageSize", "snapshots", "purgeRequested", "parent", "warehouse", "planId", "referenced-by", "", "x"),
		pick(f.r, "", "0", "-1", "1e9", "x", "all", "refs", "ALL", "true", "yes", "99999999999999999999", "MTo", "MTp0MQ", "a\x1fb", "\x1f", "\x00", "\xff", "no such", strings.Repeat("x", 3000)),
	})
	return true
}

func (f *fuzzer) breakHeader(s *shot) bool {
	pair := pick(f.r, [2]string{"If-None-Match", pick(f.r, "*", "", `W/"`, `"x", W/"y`, ",,,", "\"\x80\"", "W/W/\"x\"")},
		[2]string{"Idempotency-Key", pick(f.r, "", "x", "00000000-0000-0000-0000-000000000000", strings.Repeat("a", 36), "{0198c0de-0000-7000-8000-000000000000}", f.key())},
		[2]string{"Idempotency-Key", f.key()},
		[2]string{"X-Iceberg-Access-Delegation", pick(f.r, "vended-credentials", "remote-signing", "x,,y", ",", "vended-credentials,vended-credentials", "\x80")},
		[2]string{"Content-Type", pick(f.r, "text/plain", "application/json; charset=latin1", "", "a/b/c", "multipart/form-data")},
		[2]string{"Accept", pick(f.r, "text/html", "*/*;q=0", "application/xml")}, [2]string{"Accept-Encoding", pick(f.r, "gzip", "gzip;q=0", "br", "*", "gzip;q=x")},
		[2]string{"X-Request-ID", pick(f.r, "", "x", strings.Repeat("x", 5000), "\x80", "a b", "<script>")}, [2]string{"X-Client-Version", pick(f.r, "Apache Iceberg 1.12.0", "\xff")},
		[2]string{"Expect", "100-continue"}, [2]string{"X-Forwarded-For", "junk"}, [2]string{"Range", "bytes=0-1"}, [2]string{"X-Long", strings.Repeat("x", 70<<10)},
		[2]string{"Host", "other"}, [2]string{"bad header", "x"}, [2]string{"X-HTTP-Method-Override", "DELETE"}, [2]string{"Upgrade", "h2c"})
	s.set(pair[0], pair[1])
	return true
}

// key gives an idempotency key: a new one, or at times one that was used.
func (f *fuzzer) key() string {
	if len(f.keys) > 0 && f.chance(40) {
		return pick(f.r, f.keys...)
	}
	f.keys = append(f.keys, uuid.Must(uuid.NewRandomFromReader(f)).String())
	return f.keys[len(f.keys)-1]
}

func (f *fuzzer) breakCredentials(s *shot) bool {
	s.header = slices.DeleteFunc(s.header, func(pair [2]string) bool { return pair[0] == "Authorization" })
	s.set("Authorization", pick(f.r, "", "Bearer", "Bearer ", "Bearer x", "Bearer slc_x", "Basic Og==", "Basic %%%", "bearer "+f.site.token, "Bearer "+f.site.token+"x", "Bearer a.b.c", "Bearer \x80", "Digest x"))
	return true
}

func (f *fuzzer) breakLength(s *shot) bool {
	if f.chance(40) {
		s.chunked = len(s.payload()) > 0
		return s.chunked
	}
	s.lie = pick(f.r, -1, -5, -1000, 1, 100, maxFuzzBody+1)
	return s.lie > 0 || len(s.payload()) > 0
}

func (f *fuzzer) breakForm(s *shot) bool {
	if s.form == nil || s.raw != nil {
		return false
	}
	switch name := pick(f.r, "grant_type", "subject_token", "subject_token_type", "scope", "client_id", "client_secret"); f.r.IntN(4) {
	case 0:
		delete(s.form, name)
	case 1:
		s.form[name] = []string{f.oddName()}
	case 2:
		s.form[name] = []string{"a", "b"}
	default:
		s.raw = pick(f.r, []byte("%zz=1"), []byte("a=%ff&grant_type=%ff"), []byte("grant_type=client_credentials"), []byte("grant_type=client_credentials&client_id=x&client_secret=%00"),
			[]byte("grant_type=client_credentials&client_id="+strings.Repeat("x", 70000)), []byte(`{"grant_type":"client_credentials"}`), []byte(fmt.Sprint("a", strings.Repeat("&a", 2000))))
	}
	return true
}
