package facade

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/internal/scan"
)

var (
	seed     = flag.Uint64("seed", 1, "of TestFacadeUnderFuzz; 0 draws one")
	requests = flag.Int("requests", 4000, "of TestFacadeUnderFuzz")
)

// maxFuzzBody is the limit of request bodies, in bytes, small enough to be exceeded often.
const maxFuzzBody = 256 << 10

// fuzzer sends random requests, right ones and spoiled ones, and compares the answers with the protocol and with what
// earlier answers said.
type fuzzer struct {
	t      *testing.T
	r      *rand.Rand
	site   *site
	line   line
	log    *buffer
	engine string // a token that is bound to the catalog
	make   map[string]func(*shot)
	now    *shadow
	named  int      // names given so far
	keys   []string // idempotency keys sent so far
	sent   int
	bad    int

	strange   map[string]bool // UUIDs of tables and views whose files or metadata no engine wrote
	succeeded map[string]int  // by operation
	refused   map[string]int
}

// TestFacadeUnderFuzz sends thousands of random requests to every operation. No answer is a server's error or anything
// but the protocol's; afterwards the catalog holds exactly what the answers said, and every table of it can be read.
func TestFacadeUnderFuzz(t *testing.T) {
	f := newFuzzer(t)
	ops := f.operations()
	for f.sent < *requests && f.bad < 20 {
		s := f.built(ops[f.r.IntN(len(ops))])
		if f.chance(55) {
			f.mutate(s)
		}
		f.fire(s)
		if f.chance(3) {
			f.twice(ops[f.r.IntN(len(ops))])
		}
	}
	f.line.close()
	t.Logf("%d requests, %d namespaces, %d tables, %d views in the end", f.sent, len(f.now.namespaces), len(f.now.tables), len(f.now.views))
	f.checkCoverage()
	f.checkState()
	f.checkLog()
}

func newFuzzer(t *testing.T) *fuzzer {
	f := &fuzzer{
		t: t, now: newShadow(), log: &buffer{},
		strange: map[string]bool{}, succeeded: map[string]int{}, refused: map[string]int{},
	}
	chosen := *seed
	if chosen == 0 {
		chosen = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", chosen)
	f.r = rand.New(rand.NewPCG(chosen, chosen))
	var whole *setup
	l := newLake(t)
	f.site = l.site(t, func(s *setup) {
		whole = s
		s.core.Folders, s.core.Existence = l.files, l.files
	})
	whole.api.Log = slog.New(slog.NewJSONHandler(f.log, &slog.HandlerOptions{Level: slog.LevelError}))
	whole.api.Limits.BodyBytes = maxFuzzBody
	whole.api.Catalog.Scans = scan.New(f.site.files, scan.WithPages(1, 1))
	server := httptest.NewUnstartedServer(api.Paced(api.Router(whole.api), api.Pace{}))
	server.Listener = api.ProtocolErrors(server.Listener)
	server.Config.ErrorLog = slog.NewLogLogger(slog.NewJSONHandler(f.log, nil), slog.LevelInfo)
	server.Start()
	t.Cleanup(server.Close)
	f.site.url = server.URL
	f.line.address = strings.TrimPrefix(server.URL, "http://")
	f.now.namespaces["db"] = true
	minted, err := f.site.sendTo(t.Context(), "POST", server.URL+"/api/governance/v1/tokens", `{"principal":"root","catalog":"main","canWrite":true}`)
	require.NoError(t, err)
	var token struct{ Token string }
	f.site.want(t, 201, minted).into(t, &token)
	f.engine = token.Token
	f.make = f.builders()
	return f
}

// operations gives what is to be sent: what the config answer lists, the more of it the more it makes, and the rest.
func (f *fuzzer) operations() []string {
	var config struct{ Endpoints []string }
	s := f.shot(configOp)
	f.make[configOp](s)
	body, _ := f.fire(s)
	raw, _ := json.Marshal(body)
	require.NoError(f.t, json.Unmarshal(raw, &config))
	require.NotEmpty(f.t, config.Endpoints)
	ops := append(config.Endpoints, configOp, tokenOp, signOp, legacyOp)
	for _, op := range ops {
		require.Contains(f.t, f.make, op, "an operation without a builder: say in fuzzbuild_test.go how it is asked for")
	}
	return append(ops, createTableOp, createTableOp, createViewOp, commitTableOp, commitTableOp, commitTableOp, commitTableOp, transactionOp, planOp)
}

// built makes a request of an operation. There is always a namespace for it to name.
func (f *fuzzer) built(op string) *shot {
	if len(f.now.namespaces) == 0 {
		home := f.shot(createNamespaceOp)
		home.body, home.owed = map[string]any{"namespace": []any{f.fresh()}}, true
		f.fire(home)
	}
	s := f.shot(op)
	f.make[op](s)
	return s
}

func (f *fuzzer) chance(percent int) bool { return f.r.IntN(100) < percent }

func (f *fuzzer) shot(op string) *shot {
	method, _, _ := strings.Cut(op, " ")
	s := &shot{op: op, method: method, mount: "/api/catalog", prefix: "/main", params: map[string]string{}}
	if f.chance(10) {
		s.prefix = ""
	}
	if f.chance(10) {
		s.mount = "/api/table/iceberg"
	}
	return s
}

// tokenFor gives an engine's token where no catalog is named: the token's is meant then.
func (f *fuzzer) tokenFor(s *shot) string {
	if s.prefix == "" || s.op == legacyOp {
		return f.engine
	}
	return f.site.token
}

// fire sends a request, judges the answer and notes what it did.
func (f *fuzzer) fire(s *shot) (map[string]any, int) {
	request := s.bytes(f.line.address, f.tokenFor(s))
	f.sent++
	answer, raw, err := f.line.exchange(s.method, request, s.lie)
	if err != nil {
		f.line.close()
		f.report(s, request, "no answer: "+err.Error())
		return nil, 0
	}
	conditional := slices.ContainsFunc(s.header, func(pair [2]string) bool { return pair[0] == "If-None-Match" })
	for _, problem := range judge(answered{s.op, s.method, conditional, s.lie > 0, answer.Close, s.reachesToken(), answer.StatusCode, answer.Header, raw}) {
		f.report(s, request, problem+"\nanswer "+answer.Status+" "+string(raw[:min(len(raw), 600)]))
	}
	ok := answer.StatusCode < 400
	if ok {
		f.succeeded[s.op]++
	} else {
		f.refused[s.op]++
	}
	if s.owed && len(s.mutated) == 0 && !ok {
		f.report(s, request, "nothing stands against it\nanswer "+answer.Status+" "+string(raw[:min(len(raw), 600)]))
	}
	body, _ := tree(raw).(map[string]any)
	if ok {
		f.note(s, body, answer.Header.Get("ETag"))
	}
	return body, answer.StatusCode
}

func (f *fuzzer) note(s *shot, body map[string]any, tag string) {
	if s.op == "" {
		if s.method != "GET" && s.method != "HEAD" {
			f.learn()
		}
		return
	}
	seen := *s
	seen.body = tree(plain(s.payload()))
	if !f.now.note(&seen, body, tag) {
		f.t.Fatalf("nobody said what %s changes", s.op)
	}
	if len(s.mutated) > 0 || s.op == registerTableOp || s.op == registerViewOp {
		f.estrange(&seen)
	}
}

// estrange marks the tables and views that a spoiled request changed.
func (f *fuzzer) estrange(s *shot) {
	object, _ := s.body.(map[string]any)
	name, _ := object["name"].(string)
	namespace := s.params["namespace"]
	keys := []string{key(namespace, s.params["table"]), key(namespace, s.params["view"]), key(namespace, name)}
	changes, _ := object["table-changes"].([]any)
	for _, change := range changes {
		part, _ := change.(map[string]any)
		keys = append(keys, keyOf(part["identifier"]))
	}
	for _, at := range keys {
		f.strange[f.now.tables[at]], f.strange[f.now.views[at]] = true, true
	}
}

// sound tells whether only right requests made a table or view what it is.
func (f *fuzzer) sound(uuid string) bool { return uuid != "" && !f.strange[uuid] }

// twice sends one request two times under one key: the second has the same status and no further effect.
func (f *fuzzer) twice(op string) {
	s := f.built(op)
	if s.method == "GET" || s.method == "HEAD" || op == tokenOp {
		return
	}
	s.set("Idempotency-Key", uuid.Must(uuid.NewRandomFromReader(f)).String())
	_, first := f.fire(s)
	again := *s
	again.owed, again.mutated = false, []string{"repeated"}
	request := again.bytes(f.line.address, f.tokenFor(s))
	if answer, raw, err := f.line.exchange(s.method, request, 0); err != nil || answer.StatusCode != first {
		f.report(&again, request, "the repeat is not answered as the first, which was "+fmt.Sprint(first)+": "+string(raw))
	}
}

func (f *fuzzer) report(s *shot, request []byte, problem string) {
	f.bad++
	f.t.Errorf("request %d, %s: %s\n%s", f.sent, s.op, problem, s.describe(request))
}

// plain gives a body as a server reads it.
func plain(raw []byte) []byte {
	if !bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		return raw
	}
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil
	}
	out, _ := io.ReadAll(r)
	return out
}

// buffer is a log that is written by many and read in the end.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) lines() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Split(strings.TrimSpace(b.b.String()), "\n")
}
