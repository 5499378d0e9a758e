package temporalx

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/keyring"
)

// ringOf makes a ring of keys that follow from their ids.
func ringOf(t testing.TB, ids ...string) *keyring.Ring {
	t.Helper()
	entries := make([]string, len(ids))
	for i, id := range ids {
		entries[i] = id + ":" + base64.StdEncoding.EncodeToString([]byte((id + strings.Repeat(".", 32))[:32]))
	}
	ring, err := keyring.Parse(strings.Join(entries, ","))
	require.NoError(t, err)
	return ring
}

func TestPayloadsAreEncryptedWhole(t *testing.T) {
	data, _ := EncryptedConverters(ringOf(t, "k1"))
	type row struct{ Table string }
	in, err := data.ToPayloads(row{"quokka"}, []byte("quokka"), nil, &common.WorkflowType{Name: "quokka"}, 7)
	require.NoError(t, err)
	for _, p := range in.GetPayloads() {
		raw, err := proto.Marshal(p)
		require.NoError(t, err)
		require.NotContains(t, string(raw), "quokka")
		require.NotContains(t, string(raw), "json/", "the metadata is encrypted too")
		require.Equal(t, map[string][]byte{"encoding": []byte("binary/encrypted"), "encryption-key-id": []byte("k1")}, p.GetMetadata())
	}
	var (
		table row
		bytes []byte
		none  *row
		kind  common.WorkflowType
		n     int
	)
	require.NoError(t, data.FromPayloads(in, &table, &bytes, &none, &kind, &n))
	require.Equal(t, row{"quokka"}, table)
	require.Equal(t, "quokka", string(bytes))
	require.Nil(t, none)
	require.Equal(t, "quokka", kind.GetName())
	require.Equal(t, 7, n)
}

func TestWhatIsInTheClearIsReadAsItIs(t *testing.T) {
	clear, err := converter.GetDefaultDataConverter().ToPayload("wombat")
	require.NoError(t, err)
	encrypted, _ := EncryptedConverters(ringOf(t, "k1"))
	decrypting, _ := DecryptingConverters(ringOf(t, "k1"))
	keyless, _ := DecryptingConverters(nil)
	for name, data := range map[string]converter.DataConverter{"encrypted": encrypted, "decrypting": decrypting, "without keys": keyless} {
		var got string
		require.NoError(t, data.FromPayload(clear, &got), name)
		require.Equal(t, "wombat", got, name)
	}
	for name, data := range map[string]converter.DataConverter{"decrypting": decrypting, "without keys": keyless} {
		p, err := data.ToPayload("wombat")
		require.NoError(t, err)
		require.True(t, proto.Equal(clear, p), name)
	}
	sealed, err := encrypted.ToPayload("quokka")
	require.NoError(t, err)
	var got string
	require.NoError(t, decrypting.FromPayload(sealed, &got))
	require.Equal(t, "quokka", got)
	err = keyless.FromPayload(sealed, &got)
	require.Contains(t, fault.PublicMessage(err), `"k1"`)
	require.Contains(t, keyless.ToString(sealed), `"k1"`)
}

func TestAnAlteredPayloadIsAnError(t *testing.T) {
	data, _ := EncryptedConverters(ringOf(t, "k1"))
	p, err := data.ToPayload("quokka")
	require.NoError(t, err)
	p.Data[len(p.Data)-1] ^= 1
	var got string
	require.True(t, fault.Is(data.FromPayload(p, &got), fault.Internal))
	p.Data = nil
	require.True(t, fault.Is(data.FromPayload(p, &got), fault.Internal))
}

func TestFailuresAreEncrypted(t *testing.T) {
	_, failures := EncryptedConverters(ringOf(t, "k1"))
	of := temporal.NewApplicationErrorWithCause("quokka", "unavailable", errors.New("the quokka's cause"), "quokka's detail")
	f := failures.ErrorToFailure(of)
	raw, err := proto.Marshal(f)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "quokka")
	require.Equal(t, "unavailable", f.GetApplicationFailureInfo().GetType(), "retries are decided by it")

	_, reading := DecryptingConverters(ringOf(t, "k2", "k1"))
	back, ok := errors.AsType[*temporal.ApplicationError](reading.FailureToError(f))
	require.True(t, ok)
	require.Equal(t, "quokka", back.Message())
	require.ErrorContains(t, errors.Unwrap(back), "the quokka's cause")
	var detail string
	require.NoError(t, back.Details(&detail))
	require.Equal(t, "quokka's detail", detail)
}
