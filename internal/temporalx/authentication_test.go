package temporalx

import (
	"context"
	"crypto/tls"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/sluice-data/sluice/internal/fault"
)

const gateName = "temporal.example"

func startBare(t *testing.T) string {
	t.Helper()
	server, err := StartServer(t.Context(), ServerOptions{DataDir: t.TempDir(), UIPort: NoUI, Logger: testLogger(t)})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	return server.Address()
}

// requireWorks does through the client what a worker does: makes the namespace fit, and runs a workflow.
func requireWorks(t *testing.T, c client.Client, id string) {
	t.Helper()
	require.NoError(t, EnsureNamespace(t.Context(), c, defaultNamespace, defaultRetention, testAttributes()))
	w := runWorker(t, c)
	defer w.Stop()
	startGreet(t, c, id)
	finishGreet(t, c, id)
}

func TestMutualTLS(t *testing.T) {
	temporal := startBare(t)
	ours, theirs := newAuthority(t, "ours"), newAuthority(t, "theirs")
	later := time.Now().Add(time.Hour)
	at := func(server tls.Certificate) *gate {
		return openGate(t, temporal, "", &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.pool(),
		})
	}
	open, expired := at(ours.sign(gateName, later)), at(ours.sign(gateName, time.Now().Add(-time.Minute)))
	mine, foreign := ours.sign("sluice", later), theirs.sign("sluice", later)
	with := func(ca *authority, certificates ...tls.Certificate) *tls.Config {
		return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: ca.pool(), ServerName: gateName, Certificates: certificates}
	}

	c, err := Dial(t.Context(), ClientOptions{Address: open.address, TLS: with(ours, mine), Logger: testLogger(t)})
	require.NoError(t, err)
	defer c.Close()
	requireWorks(t, c, "by certificate")
	lazy, err := NewLazyClient(ClientOptions{Address: open.address, TLS: with(ours, mine), Logger: testLogger(t)})
	require.NoError(t, err)
	defer lazy.Close()
	requireGreeted(t, lazy, "by certificate")

	tls12 := with(ours)
	tls12.MaxVersion = tls.VersionTLS12
	otherName := with(ours, mine)
	otherName.ServerName = ""
	for name, c := range map[string]struct {
		address string
		conf    *tls.Config
		says    string
	}{
		"an authority that did not sign":  {open.address, with(theirs, mine), "set temporal-tls-ca"},
		"another name":                    {open.address, otherName, "set temporal-tls-server-name"},
		"an expired certificate":          {expired.address, with(ours, mine), "has expired"},
		"no client certificate":           {open.address, with(ours), "certificate required): set temporal-tls-cert"},
		"no client certificate, TLS 1.2":  {open.address, tls12, "set temporal-tls-cert"},
		"another authority's certificate": {open.address, with(ours, foreign), "set temporal-tls-cert"},
		"a server without TLS":            {temporal, with(ours, mine), "does not speak TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			_, err := Dial(t.Context(), ClientOptions{Address: c.address, TLS: c.conf, Logger: testLogger(t)})
			require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
			require.Contains(t, fault.PublicMessage(err), c.says)
			require.Contains(t, fault.PublicMessage(err), c.address)
			require.Less(t, time.Since(begun), 3*time.Second, "waiting does not cure it")
		})
	}
	t.Run("no TLS at all", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := Dial(ctx, ClientOptions{Address: open.address, Logger: testLogger(t)})
		require.Contains(t, fault.PublicMessage(err), "whether it wants TLS")
	})
}

func TestAPIKey(t *testing.T) {
	temporal := startBare(t)
	ours := newAuthority(t, "ours")
	g := openGate(t, temporal, "the-key", &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{ours.sign(gateName, time.Now().Add(time.Hour))},
	})
	conf := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: ours.pool(), ServerName: gateName}
	c, err := Dial(t.Context(), ClientOptions{Address: g.address, APIKey: "the-key", TLS: conf, Logger: testLogger(t)})
	require.NoError(t, err)
	defer c.Close()
	requireWorks(t, c, "by key")
	g.mu.Lock()
	var called []string
	for path, keys := range g.calls {
		called = append(called, path[len("/temporal.api."):])
		require.Equal(t, map[string]bool{"Bearer the-key": true}, keys, path)
	}
	g.mu.Unlock()
	slices.Sort(called)
	t.Log(called)
	for _, of := range []string{
		"workflowservice.v1.WorkflowService/GetSystemInfo", "workflowservice.v1.WorkflowService/DescribeNamespace",
		"operatorservice.v1.OperatorService/ListSearchAttributes", "workflowservice.v1.WorkflowService/PollWorkflowTaskQueue",
		"workflowservice.v1.WorkflowService/PollActivityTaskQueue", "workflowservice.v1.WorkflowService/StartWorkflowExecution",
		"workflowservice.v1.WorkflowService/RespondWorkflowTaskCompleted", "workflowservice.v1.WorkflowService/UpdateWorkflowExecution",
	} {
		require.Contains(t, called, of)
	}

	for name, key := range map[string]string{"another key": "not-the-key", "no key": ""} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			_, err := Dial(t.Context(), ClientOptions{Address: g.address, APIKey: key, TLS: conf, Logger: testLogger(t)})
			require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
			require.Contains(t, fault.PublicMessage(err), "check temporal-api-key")
			require.NotContains(t, err.Error(), "not-the-key")
			require.Less(t, time.Since(begun), 3*time.Second, "waiting does not cure it")
		})
	}
	t.Run("a key is not sent in the clear", func(t *testing.T) {
		_, err := Dial(t.Context(), ClientOptions{Address: temporal, APIKey: "the-key", Logger: testLogger(t)})
		require.Contains(t, fault.PublicMessage(err), "does not speak TLS")
	})
}
