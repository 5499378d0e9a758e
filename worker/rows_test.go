package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/rowaudit"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/internal/tableread"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/worker"
	"github.com/sluice-data/sluice/workflows"
)

// plant is a house whose tables are written through the data plane, by processes that share the database, the folder and
// the keys.
type plant struct {
	*house
	ring    *keyring.Ring
	workers client.Client
}

func newPlant(t *testing.T) *plant {
	t.Helper()
	ring, err := keyring.Parse(keyring.Generate())
	require.NoError(t, err)
	p := &plant{house: newHouse(t, 0), ring: ring}
	p.workers, err = client.DialContext(t.Context(), client.Options{
		HostPort: p.server.Address(), Namespace: "sluice", Logger: silent(), Interceptors: []interceptor.ClientInterceptor{&hurry{}},
	})
	require.NoError(t, err)
	t.Cleanup(p.workers.Close)
	return p
}

// hurry has workers that died noticed soon, for tests in which they do.
type hurry struct{ interceptor.InterceptorBase }

func (h *hurry) InterceptWorkflow(ctx workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &hurriedIn{interceptor.WorkflowInboundInterceptorBase{Next: h.InterceptorBase.InterceptWorkflow(ctx, next)}}
}

type hurriedIn struct {
	interceptor.WorkflowInboundInterceptorBase
}

func (h *hurriedIn) Init(out interceptor.WorkflowOutboundInterceptor) error {
	return h.Next.Init(&hurriedOut{interceptor.WorkflowOutboundInterceptorBase{Next: out}})
}

type hurriedOut struct {
	interceptor.WorkflowOutboundInterceptorBase
}

func (h *hurriedOut) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	return h.Next.ExecuteActivity(workflow.WithHeartbeatTimeout(ctx, 3*time.Second), name, args...)
}

// dataPlane is that of one process. It splits what is more than 1 MB into chunks of less than 3 MB.
func (p *plant) dataPlane(split dataplane.Splitter) *dataplane.Service {
	d := dataplane.Deps{
		Catalog: p.Service, Store: p.store, Secrets: p.ring.For("data-key"), Tokens: p.ring.For("page-token"), Now: time.Now, Reader: p.reader(),
		Limits: dataplane.Limits{
			Memory: 32 << 20, Rows: 1000, AnswerBytes: 1 << 30, RequestBytes: 1 << 30, Timeout: time.Minute, Concurrency: 4, SplitAfter: 1 << 20,
		},
	}
	d.IO, d.Files, d.Split = tableio.New(p.Service, p.files, time.Now), p.files, split
	d.Keys = idempotency.New(idempotency.Deps{Store: p.store, Lifetime: time.Hour, Now: time.Now})
	return dataplane.New(d)
}

func (p *plant) reader() *tableread.Reader {
	return tableread.New(p.files, scan.New(p.files), tableread.Options{Workers: 1})
}

// lander runs a worker that lands split writes.
func (p *plant) lander() { p.run(p.dataPlane(nil)) }

func (p *plant) run(writer activities.RowWriter) (stop func()) {
	p.t.Helper()
	w := worker.New(p.workers, activities.New(activities.Ports{RowWriter: writer}), worker.Options{StopTimeout: 10 * time.Millisecond})
	require.NoError(p.t, w.Start())
	p.t.Cleanup(w.Stop)
	return w.Stop
}

const sentRows = 60_000

func body() *strings.Reader {
	random := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	for i := range sentRows {
		note := make([]byte, 200)
		for k := range note {
			note[k] = "bcdfghjklmnpqrstvwxz"[random.IntN(20)]
		}
		fmt.Fprintf(&text, "{\"id\":\"%d\",\"note\":\"%s\"}\n", i, note)
	}
	return strings.NewReader(text.String())
}

func (p *plant) table(name string) {
	p.t.Helper()
	p.create(name, 0)
	p.change(name)
}

// write sends the rows to a table under a key.
func (p *plant) write(ctx context.Context, data *dataplane.Service, key string) (dataplane.WriteResult, error) {
	job := policy.Caller{Principal: "job", PrincipalID: "job", Held: policy.NewHeld(nil, []policy.Grant{{ObjectID: p.cat.ID, Privilege: models.DataWrite}})}
	return data.Write(ctx, job, "main.db.orders", dataplane.WriteInput{Format: rows.NDJSON, Body: body(), Key: key})
}

// landed checks that all rows are there once, with their audit, and that nothing else is.
func (p *plant) landed(out dataplane.WriteResult) {
	p.t.Helper()
	require.EqualValues(p.t, sentRows, out.Rows)
	view, err := p.LoadTable(p.t.Context(), p.root, p.cat, p.ident("orders"))
	require.NoError(p.t, err)
	require.Equal(p.t, 1, view.Document.SnapshotCount())
	ids := map[int64]bool{}
	_, err = p.reader().Scan(p.t.Context(), tableread.Scan{Document: view.Document, SchemaID: view.Document.CurrentSchemaID(), Columns: []string{"id"}}, func(b arrow.RecordBatch) error {
		for _, id := range int64s(b.Column(0)) {
			ids[id] = true
		}
		return nil
	})
	require.NoError(p.t, err)
	require.Len(p.t, ids, sentRows)
	blocks, err := p.store.RowAuditBlocks(p.t.Context(), models.RowAuditFilter{WriteID: out.AuditID})
	require.NoError(p.t, err)
	audited := 0
	for _, b := range blocks {
		records, err := rowaudit.Unpack(b)
		require.NoError(p.t, err)
		audited += len(records)
	}
	require.Equal(p.t, sentRows, audited)
	left, err := filepath.Glob(strings.TrimPrefix(view.Row.Location, "file://") + "/data/_sluice/*")
	require.NoError(p.t, err)
	require.Empty(p.t, left)
}

func TestALargeWriteIsLandedByWorkers(t *testing.T) {
	p := newPlant(t)
	p.table("orders")
	p.lander()
	p.lander()
	key := uuid.NewString()
	data := p.dataPlane(workflows.NewStarter(p.client, p.store))
	out, err := p.write(t.Context(), data, key)
	require.NoError(t, err)
	p.landed(out)
	run, err := p.client.DescribeWorkflowExecution(t.Context(), workflows.WriteRowsID(out.AuditID), "")
	require.NoError(t, err)
	require.Equal(t, workflows.WriteRowsName, run.WorkflowExecutionInfo.Type.Name)
	again, err := p.write(t.Context(), p.dataPlane(nil), key)
	require.NoError(t, err)
	require.Equal(t, out, again)
	p.landed(out)
}

// Workers that die in the middle of a write, whose client left too, leave it to the next ones.
func TestWorkersDieInTheMiddleOfAWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until the deaths of two workers are noticed")
	}
	p := newPlant(t)
	p.table("orders")
	key := uuid.NewString()
	starter := workflows.NewStarter(p.client, p.store)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	_, err := p.write(ctx, p.dataPlane(&around{Starter: starter, after: leave}), key)
	require.Equal(t, fault.UnknownState, fault.CodeOf(err), "%v", err)
	for _, step := range []string{"chunk", "commit"} {
		begun := make(chan string, 100)
		stop := p.run(&told{RowWriter: p.dataPlane(nil), begun: begun})
		for step != <-begun { //nolint:revive // until it comes to it
		}
		stop()
	}
	p.lander()
	var out dataplane.WriteResult
	require.Eventually(t, func() bool {
		writes, err := p.store.GovernedWrites(t.Context(), models.GovernedWriteFilter{})
		return err == nil && len(writes) == 1
	}, 100*time.Second, 50*time.Millisecond)
	out, err = p.write(t.Context(), p.dataPlane(starter), key)
	require.NoError(t, err)
	require.NoError(t, starter.AwaitWrite(t.Context(), out.AuditID))
	p.landed(out)
}

// What a write failed with is what its client is told.
func TestAWriteThatCannotLandSaysWhy(t *testing.T) {
	p := newPlant(t)
	p.table("orders")
	starter := workflows.NewStarter(p.client, p.store)
	p.lander()
	data := p.dataPlane(&around{Starter: starter, before: func() { p.change("orders") }})
	_, err := p.write(t.Context(), data, "")
	require.Equal(t, fault.Conflict, fault.CodeOf(err), "%v", err)
	require.Contains(t, fault.PublicMessage(err), "another schema")
	view, err := p.LoadTable(t.Context(), p.root, p.cat, p.ident("orders"))
	require.NoError(t, err)
	left, err := filepath.Glob(strings.TrimPrefix(view.Row.Location, "file://") + "/data/*.parquet")
	require.NoError(t, err)
	require.Empty(t, left)
}

// told tells which step of a write begins.
type told struct {
	activities.RowWriter
	begun chan<- string
}

func (t *told) WriteChunk(ctx context.Context, w models.SplitWrite, chunk int) (int64, error) {
	t.begun <- "chunk"
	return t.RowWriter.WriteChunk(ctx, w, chunk)
}

func (t *told) CommitChunks(ctx context.Context, w models.SplitWrite) error {
	t.begun <- "commit"
	return t.RowWriter.CommitChunks(ctx, w)
}

// around lets something happen before a workflow starts, or after.
type around struct {
	*workflows.Starter
	before, after func()
}

func (a *around) StartWrite(ctx context.Context, w models.SplitWrite) error {
	if a.before != nil {
		a.before()
	}
	err := a.Starter.StartWrite(ctx, w)
	if a.after != nil {
		a.after()
	}
	return err
}

// change gives a table one column more.
func (p *plant) change(name string) {
	p.t.Helper()
	view, err := p.LoadTable(p.t.Context(), p.root, p.cat, p.ident(name))
	require.NoError(p.t, err)
	fields := `{"id":1,"name":"id","required":true,"type":"long"}`
	last := view.Document.LastColumnID() + 1
	for id := 2; id <= last; id++ {
		column := "note"
		if id > 2 {
			column = fmt.Sprint("note", id)
		}
		fields += fmt.Sprintf(`,{"id":%d,"name":%q,"required":false,"type":"string"}`, id, column)
	}
	updates, err := metadata.DecodeUpdates([]json.RawMessage{
		json.RawMessage(fmt.Sprintf(`{"action":"add-schema","schema":{"type":"struct","schema-id":%d,"fields":[%s]},"last-column-id":%d}`, last, fields, last)),
		json.RawMessage(`{"action":"set-current-schema","schema-id":-1}`),
	})
	require.NoError(p.t, err)
	_, err = p.CommitTable(p.t.Context(), p.root, p.cat, catalog.CommitInput{Table: p.ident(name), Updates: updates})
	require.NoError(p.t, err)
}

func int64s(column arrow.Array) []int64 { return column.(*array.Int64).Int64Values() }
