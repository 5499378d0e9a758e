package audit

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func TestWhatACheckpointStates(t *testing.T) {
	c := models.AuditCheckpoint{Seq: 42, Hash: strings.Repeat("ab", 32), At: time.Date(2026, 3, 1, 12, 0, 0, 120_000, time.FixedZone("", 3600)), Pruned: true, KeyID: "k"}
	require.Equal(t, "sluice audit checkpoint 1\nseq: 42\nhash: "+strings.Repeat("ab", 32)+"\nat: 2026-03-01T11:00:00.000120Z\npruned: true\nkey: k\n", string(statement(c)))
}

func TestSignaturesOfCheckpoints(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	c, err := newCheckpoint(42, strings.Repeat("ab", 32), false, time.Now(), "k", private)
	require.NoError(t, err)
	require.True(t, signed(c, public))
	for name, change := range map[string]func(*models.AuditCheckpoint){
		"seq": func(c *models.AuditCheckpoint) { c.Seq++ }, "hash": func(c *models.AuditCheckpoint) { c.Hash = strings.Repeat("ba", 32) },
		"at": func(c *models.AuditCheckpoint) { c.At = c.At.Add(time.Microsecond) }, "pruned": func(c *models.AuditCheckpoint) { c.Pruned = true },
		"key": func(c *models.AuditCheckpoint) { c.KeyID = "j" }, "signature": func(c *models.AuditCheckpoint) { c.Signature[0] ^= 1 },
		"lines": func(c *models.AuditCheckpoint) { c.KeyID = "k\nseq: 43" }, "no hash": func(c *models.AuditCheckpoint) { c.Hash = "" },
	} {
		t.Run(name, func(t *testing.T) {
			changed := c
			changed.Signature = append([]byte{}, c.Signature...)
			change(&changed)
			require.False(t, signed(changed, public))
		})
	}
	require.False(t, signed(c, nil))
	other, _, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	require.False(t, signed(c, other))
}

func TestFilesOfCheckpoints(t *testing.T) {
	good := `{"id":"1","seq":3,"hash":"` + strings.Repeat("ab", 32) + `","at":"2026-03-01T12:00:00.123456Z","keyId":"k","publicKey":"` + EncodeKey(make([]byte, 32)) + `","signature":"AA=="}`
	list, err := ReadCheckpoints(strings.NewReader(good + "\n\n" + good))
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.EqualValues(t, 123456000, list[0].At.Nanosecond())
	for name, text := range map[string]string{
		"no JSON":      good + "\nseq 4",
		"another kind": `{"seq":1}`,
		"no place":     strings.Replace(good, `"seq":3`, `"seq":0`, 1),
		"a list":       "[" + good + "]",
		"a long line":  strings.Repeat(" ", 5000) + good,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadCheckpoints(strings.NewReader(text))
			require.True(t, fault.Is(err, fault.Invalid), "%v", err)
		})
	}
	for _, text := range []string{"", "AAAA", "not base64!", EncodeKey(make([]byte, 31))} {
		_, err := DecodeKey(text)
		require.True(t, fault.Is(err, fault.Invalid), text)
	}
}
