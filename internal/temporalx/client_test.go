package temporalx

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

// silentAddress accepts connections and says nothing.
func silentAddress(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(takePort(t)))
}

func TestDialEndsWithItsContext(t *testing.T) {
	for name, address := range map[string]string{"silent": silentAddress(t), "closed": "127.0.0.1:1"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			begun := time.Now()
			_, err := Dial(ctx, ClientOptions{Address: address, Logger: testLogger(t)})
			require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
			require.Contains(t, fault.PublicMessage(err), address)
			require.Less(t, time.Since(begun), 2*time.Second)
		})
	}
}

func TestLazyClientNeedsNoServer(t *testing.T) {
	for name, o := range map[string]ClientOptions{
		"plain":   {Address: "127.0.0.1:1"},
		"api key": {Address: "127.0.0.1:1", Namespace: "sluice.a1b2c", APIKey: "secret"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := NewLazyClient(o)
			require.NoError(t, err)
			c.Close()
		})
	}
}

func TestAPIKeyImpliesTLS(t *testing.T) {
	require.NotNil(t, ClientOptions{APIKey: "secret"}.sdk().ConnectionOptions.TLS)
	require.Nil(t, ClientOptions{}.sdk().ConnectionOptions.TLS)
}

func TestLazyClientFindsServerLater(t *testing.T) {
	free, err := holdPort("127.0.0.1", 0, "a test", "nothing")
	require.NoError(t, err)
	free.release()
	address := free.dialAddress()
	c, err := NewLazyClient(ClientOptions{Address: address, Logger: testLogger(t)})
	require.NoError(t, err)
	defer c.Close()
	s, err := StartServer(t.Context(), ServerOptions{DataDir: t.TempDir(), FrontendPort: free.number, UIPort: NoUI, Logger: testLogger(t)})
	require.NoError(t, err)
	defer s.Stop()
	require.Equal(t, address, s.Address())
	require.Empty(t, s.UIAddress())
	require.NoError(t, EnsureNamespace(t.Context(), c, "made later", time.Hour, nil))
	require.NoError(t, EnsureNamespace(t.Context(), c, "made later", time.Hour, nil))
}
