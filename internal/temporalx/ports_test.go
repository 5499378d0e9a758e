package temporalx

import (
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

func takePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

func TestServerNamesTakenPorts(t *testing.T) {
	taken := takePort(t)
	for flag, o := range map[string]ServerOptions{
		"--temporal-port": {FrontendPort: taken},
		"--ui-port":       {UIPort: taken},
	} {
		t.Run(flag, func(t *testing.T) {
			begun := time.Now()
			o.DataDir = filepath.Join(t.TempDir(), "temporal")
			_, err := StartServer(t.Context(), o)
			require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
			require.Contains(t, fault.PublicMessage(err), fmt.Sprintf("port %d", taken))
			require.Contains(t, fault.PublicMessage(err), flag)
			require.Less(t, time.Since(begun), 500*time.Millisecond)
			require.NoDirExists(t, o.DataDir, "something was begun")
		})
	}
}

// A port that is taken between the check and Temporal's own bind must neither
// exit the process nor hang.
func TestPortLostWhileStarting(t *testing.T) {
	o, err := ServerOptions{DataDir: t.TempDir(), UIPort: NoUI, Logger: testLogger(t)}.withDefaults()
	require.NoError(t, err)
	p, err := reservePorts(o)
	require.NoError(t, err)
	defer p.release()
	st, err := openStore(o.DataDir)
	require.NoError(t, err)
	p.frontend.release()
	p.frontend.number = takePort(t)
	_, err = buildTemporal(p, st, newServerLogger(o.Logger))
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.ErrorContains(t, err, "address already in use")
}

func TestServerRefusesImpossibleAddresses(t *testing.T) {
	for _, ip := range []string{"localhost", "192.0.2.1"} {
		_, err := StartServer(t.Context(), ServerOptions{DataDir: t.TempDir(), IP: ip})
		require.ErrorContains(t, err, ip)
	}
	_, err := StartServer(t.Context(), ServerOptions{})
	require.True(t, fault.Is(err, fault.Invalid))
}
