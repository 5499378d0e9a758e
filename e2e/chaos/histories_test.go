package chaos

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-data/sluice/e2e/product"
	"github.com/sluice-data/sluice/internal/temporalx"
)

// storeSecret is the secret key of an object store that the server is configured with.
const storeSecret = "object-store-secret-3f9a" //nolint:gosec // made up, to be looked for

// TestHistoriesHoldNoSecret lets a server do everything that workflows are started for, with each kind of credential,
// and then looks for all the credentials in everything that Temporal keeps.
func TestHistoriesHoldNoSecret(t *testing.T) {
	folder := t.TempDir()
	server, root, b := serveFor(t, folder, "--drop-grace-period", "0s")
	v := &vault{known: map[string]string{}}
	v.add("root's client secret", b.ClientSecret)
	v.add("root's token", b.Token)
	v.add("the object store's secret", storeSecret)
	v.addRing(t, filepath.Join(folder, "encryption.key"))
	job := newJob(t, root, b, v)
	workEverything(t, root, job)

	temporal, err := temporalx.Dial(t.Context(), temporalx.ClientOptions{Address: b.TemporalAddress, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer temporal.Close()
	kept := everythingKept(t, temporal)
	for _, kind := range []string{"ReconcileCommit", "PurgeTable", "SweepCatalog", "SweepDropped", "sales.orders", "tableId"} {
		require.Contains(t, kept, kind, "nothing was looked through")
	}
	require.Empty(t, v.in(kept))

	plant(t, temporal, b.Token)
	require.Equal(t, []string{"root's token"}, v.in(everythingKept(t, temporal)), "a planted secret must be found")
	require.NoError(t, temporal.TerminateWorkflow(t.Context(), "planted", "", "seen"))
	require.NoError(t, server.Stop(stopWithin))
	logged, err := os.ReadFile(filepath.Join(folder, "serve.log"))
	require.NoError(t, err)
	require.Subset(t, []string{"root's client secret", "root's token"}, v.in(string(logged)), "the first start shows root's, once; nothing else is in the log")
}

// serveFor starts a server that an object store's keys are configured in.
func serveFor(t *testing.T, folder string, args ...string) (*product.Process, *product.Client, product.Bootstrap) {
	t.Helper()
	program, err := binary()
	require.NoError(t, err)
	env := []string{"SLUICE_S3_ACCESS_KEY=AKIAQQQQ7777WWWW3333", "SLUICE_S3_SECRET_KEY=" + storeSecret}
	server, err := product.Serve(program, folder, filepath.Join(folder, "serve.log"), env, append(args, "--sweep-interval", "1s")...)
	require.NoError(t, err)
	t.Cleanup(server.Kill)
	ctx, cancel := context.WithTimeout(t.Context(), readyWithin)
	defer cancel()
	root, err := server.Ready(ctx, folder)
	require.NoError(t, err)
	b, err := product.ReadBootstrap(folder)
	require.NoError(t, err)
	return server, root, b
}

// TestHistoriesAreEncrypted switches encryption on and off under one installation, and reads a history as Temporal's own
// tools do.
func TestHistoriesAreEncrypted(t *testing.T) {
	folder := t.TempDir()
	server, root, _ := serveFor(t, folder)
	require.NoError(t, root.SetDefaultPolicy(t.Context(), "open_append"))
	require.NoError(t, root.CreateNamespace(t.Context(), "sales"))
	_, err := root.CreateTable(t.Context(), "sales", "orders", nil)
	require.NoError(t, err)
	require.Contains(t, string(inputOfOneCommit(t, root, folder).GetData()), "sales.orders")
	require.NoError(t, server.Stop(stopWithin))

	server, root, b := serveFor(t, folder, "--temporal-encrypt-payloads")
	encrypted := inputOfOneCommit(t, root, folder)
	require.Equal(t, "binary/encrypted", string(encrypted.GetMetadata()["encoding"]))
	require.NotContains(t, string(encrypted.GetData()), "sales.orders")
	asked, err := protojson.Marshal(&common.Payloads{Payloads: []*common.Payload{encrypted}})
	require.NoError(t, err)
	var read struct{ Payloads []struct{ Data []byte } }
	codec := strings.Replace(b.GovernanceURI, "/api/governance/v1", "/api/temporal/codec/decode", 1)
	require.NoError(t, root.Do(t.Context(), http.MethodPost, codec, asked, &read))
	require.Contains(t, string(read.Payloads[0].Data), "sales.orders")
	var denied *product.StatusError
	require.ErrorAs(t, product.NewClient("", "", "", "").Do(t.Context(), http.MethodPost, codec, asked, nil), &denied)
	require.Equal(t, http.StatusUnauthorized, denied.Code)
	require.NoError(t, server.Stop(stopWithin))

	_, root, _ = serveFor(t, folder)
	require.Contains(t, string(inputOfOneCommit(t, root, folder).GetData()), "sales.orders")
}

// inputOfOneCommit has a commit reconciled and gives what its workflow was given, as Temporal has it.
func inputOfOneCommit(t *testing.T, root *product.Client, folder string) *common.Payload {
	t.Helper()
	journal := &Journal{}
	require.NoError(t, commitOnce(t.Context(), root, journal, Target{Namespace: "sales", Name: "orders"}))
	settle(t, root)
	b, err := product.ReadBootstrap(folder)
	require.NoError(t, err)
	temporal, err := temporalx.Dial(t.Context(), temporalx.ClientOptions{Address: b.TemporalAddress, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer temporal.Close()
	sent := journal.Sent()[0]
	id := fmt.Sprintf("reconcile/%s/%d", sent.TableUUID, sent.SnapshotID)
	events := temporal.GetWorkflowHistory(t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	require.True(t, events.HasNext())
	begun, err := events.Next()
	require.NoError(t, err)
	return begun.GetWorkflowExecutionStartedEventAttributes().GetInput().GetPayloads()[0]
}

// vault is the credentials by what they are, each with its hash and its encodings.
type vault struct{ known map[string]string }

func (v *vault) add(what, secret string) {
	v.known[secret] = what
	sum := sha256.Sum256([]byte(secret))
	v.known[hex.EncodeToString(sum[:])] = what + " as its hash"
	v.known[base64.StdEncoding.EncodeToString([]byte(secret))] = what + " in base64"
	v.known[hex.EncodeToString([]byte(secret))] = what + " in hex"
}

func (v *vault) addRing(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, encoded, ok := strings.Cut(strings.TrimSpace(string(text)), ":")
	require.True(t, ok)
	key, err := base64.StdEncoding.DecodeString(encoded)
	require.NoError(t, err)
	v.add("the encryption key", encoded)
	v.add("the encryption key as bytes", string(key))
}

func (v *vault) in(text string) []string {
	var found []string
	for secret, what := range v.known {
		if strings.Contains(text, secret) {
			found = append(found, what)
		}
	}
	return found
}

// newJob makes a principal with all privileges on the catalog, changes its credentials each way there is, and gives a
// client with an engine token of its own.
func newJob(t *testing.T, root *product.Client, b product.Bootstrap, v *vault) *product.Client {
	t.Helper()
	management := strings.Replace(b.GovernanceURI, "/api/governance/v1", "/api/management/v1", 1)
	type credentials struct {
		Credentials struct{ ClientID, ClientSecret string } `json:"credentials"`
	}
	var made, reset credentials
	require.NoError(t, root.Do(t.Context(), http.MethodPost, management+"/principals", map[string]any{"principal": map[string]any{"name": "job"}}, &made))
	v.add("a principal's client secret", made.Credentials.ClientSecret)
	require.NoError(t, root.Do(t.Context(), http.MethodPost, management+"/principals/job/reset", map[string]any{}, &reset))
	v.add("a principal's new client secret", reset.Credentials.ClientSecret)
	require.NoError(t, root.Do(t.Context(), http.MethodPut, management+"/principals/job/principal-roles",
		map[string]any{"principalRole": map[string]any{"name": "service_admin"}}, nil))
	access := exchange(t, b.CatalogURI, reset.Credentials.ClientID, reset.Credentials.ClientSecret)
	v.add("an access token", access)
	v.add("an access token's signature", access[strings.LastIndexByte(access, '.')+1:])

	var minted struct{ Token string }
	require.NoError(t, root.Do(t.Context(), http.MethodPost, b.GovernanceURI+"/tokens",
		map[string]any{"principal": "job", "catalog": b.Catalog, "canWrite": true}, &minted))
	v.add("an engine token", minted.Token)
	require.NoError(t, product.NewClient(b.CatalogURI, b.GovernanceURI, b.Catalog, access).Do(
		t.Context(), http.MethodGet, b.GovernanceURI+"/tables", nil, nil))
	return product.NewClient(b.CatalogURI, b.GovernanceURI, b.Catalog, minted.Token)
}

func exchange(t *testing.T, catalogURI, id, secret string) string {
	t.Helper()
	resp, err := http.PostForm(catalogURI+"/v1/oauth/tokens", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}, "scope": {"PRINCIPAL_ROLE:ALL"},
	})
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	require.Len(t, strings.Split(answer.AccessToken, "."), 3)
	return answer.AccessToken
}

// workEverything has commits reconciled, by themselves and on demand, and a dropped table purged.
func workEverything(t *testing.T, root, job *product.Client) {
	t.Helper()
	require.NoError(t, root.SetDefaultPolicy(t.Context(), "open_append"))
	require.NoError(t, root.CreateNamespace(t.Context(), "sales"))
	for _, name := range []string{"orders", "dropped"} {
		_, err := root.CreateTable(t.Context(), "sales", name, nil)
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, commitOnce(t.Context(), job, &Journal{}, Target{Namespace: "sales", Name: name}))
		}
	}
	settle(t, root)
	require.NoError(t, root.Reconcile(t.Context(), "main.sales.orders"))
	require.NoError(t, root.DropTable(t.Context(), "sales", "dropped", true))
	require.Eventually(t, func() bool {
		purged, err := root.Audit(t.Context(), "table.purged")
		return err == nil && len(purged) == 1
	}, 30*time.Second, 50*time.Millisecond)
	settle(t, root)
}

// everythingKept is the schedules and the history, memo, attributes and ids of every workflow, in the bytes that Temporal
// has, in which payloads are as they were given, and as JSON.
func everythingKept(t *testing.T, c client.Client) string {
	t.Helper()
	var kept bytes.Buffer
	keep := func(m proto.Message) {
		raw, err := proto.Marshal(m)
		require.NoError(t, err)
		kept.Write(raw)
		text, err := protojson.Marshal(m)
		require.NoError(t, err)
		kept.Write(text)
	}
	schedules, err := c.WorkflowService().ListSchedules(t.Context(), &workflowservice.ListSchedulesRequest{Namespace: "sluice", MaximumPageSize: 100})
	require.NoError(t, err)
	require.NotEmpty(t, schedules.GetSchedules())
	for _, s := range schedules.GetSchedules() {
		whole, err := c.WorkflowService().DescribeSchedule(t.Context(), &workflowservice.DescribeScheduleRequest{Namespace: "sluice", ScheduleId: s.GetScheduleId()})
		require.NoError(t, err)
		keep(whole)
	}
	var page []byte
	for {
		list, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{NextPageToken: page})
		require.NoError(t, err)
		for _, w := range list.GetExecutions() {
			keep(w)
			events := c.GetWorkflowHistory(t.Context(), w.GetExecution().GetWorkflowId(), w.GetExecution().GetRunId(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			for events.HasNext() {
				e, err := events.Next()
				require.NoError(t, err)
				keep(e)
			}
		}
		if page = list.GetNextPageToken(); len(page) == 0 {
			return kept.String()
		}
	}
}

// plant starts a workflow that nobody works on and that was given a secret.
func plant(t *testing.T, c client.Client, secret string) {
	t.Helper()
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "planted", TaskQueue: "nobody"}, "Planted", map[string]string{"x": secret})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		n, err := c.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Query: fmt.Sprintf("WorkflowId = %q", "planted")})
		return err == nil && n.GetCount() == 1
	}, 10*time.Second, 50*time.Millisecond)
}
