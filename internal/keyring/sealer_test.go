package keyring

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

func seal(t testing.TB, s *Sealer, plain, associated string) []byte {
	t.Helper()
	sealed, err := s.Seal([]byte(plain), []byte(associated))
	require.NoError(t, err)
	return sealed
}

func TestSealedIsOpened(t *testing.T) {
	s := ring(t, "k1").For("tests")
	for _, plain := range []string{"", "a", strings.Repeat("long ", 100_000)} {
		for _, associated := range []string{"", "row 7"} {
			sealed := seal(t, s, plain, associated)
			if len(plain) > 1 {
				require.NotContains(t, string(sealed), plain[:4])
			}
			got, err := s.Open(sealed, []byte(associated))
			require.NoError(t, err)
			require.Equal(t, plain, string(got))
		}
	}
	require.NotEqual(t, seal(t, s, "same", ""), seal(t, s, "same", ""), "nobody may see that two are the same")
}

func TestSealedOpensOnlyWhereItBelongs(t *testing.T) {
	r := ring(t, "k1")
	sealed := seal(t, r.For("signing"), "plain", "row 7")
	other, err := Parse("k1:" + encoded("another key under the same id"))
	require.NoError(t, err)
	for name, try := range map[string]struct {
		sealer     *Sealer
		associated string
	}{
		"another purpose":        {r.For("temporal"), "row 7"},
		"another row":            {r.For("signing"), "row 8"},
		"no row":                 {r.For("signing"), ""},
		"shifted into the row":   {r.For("signin"), "grow 7"},
		"another key of that id": {other.For("signing"), "row 7"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := try.sealer.Open(sealed, []byte(try.associated))
			require.True(t, fault.Is(err, fault.Internal), "%v", err)
			require.Contains(t, fault.PublicMessage(err), `"k1"`)
		})
	}
}

func TestEveryByteIsGuarded(t *testing.T) {
	s := ring(t, "k1", "k2").For("tests")
	sealed := seal(t, s, "plain", "row 7")
	for i := range sealed {
		for _, flip := range []byte{1, 0x80, 0xff} {
			altered := bytes.Clone(sealed)
			altered[i] ^= flip
			_, err := s.Open(altered, []byte("row 7"))
			require.Error(t, err, "byte %d xor %x", i, flip)
		}
	}
	// k1 and k2 differ in the last character of the id alone.
	swapped := bytes.Clone(sealed)
	swapped[3] = '2'
	_, err := s.Open(swapped, []byte("row 7"))
	require.True(t, fault.Is(err, fault.Internal), "%v", err)
	for n := range sealed {
		_, err := s.Open(sealed[:n], []byte("row 7"))
		require.Error(t, err, "the first %d bytes", n)
	}
	_, err = s.Open(append(bytes.Clone(sealed), 0), []byte("row 7"))
	require.Error(t, err)
}

func TestRotation(t *testing.T) {
	old := seal(t, ring(t, "k1").For("tests"), "plain", "")
	both := ring(t, "k2", "k1").For("tests")
	require.Equal(t, "k2", both.KeyID())
	got, err := both.Open(old, nil)
	require.NoError(t, err)
	require.Equal(t, "plain", string(got))

	fresh := seal(t, both, "plain", "")
	_, err = ring(t, "k1").For("tests").Open(fresh, nil)
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.Contains(t, fault.PublicMessage(err), `"k2"`, "it says which key to add")
	_, err = ring(t, "k1", "k2").For("tests").Open(fresh, nil)
	require.NoError(t, err, "a process that has not yet switched reads what one that has writes")
	_, err = ring(t, "k2").For("tests").Open(old, nil)
	require.ErrorContains(t, err, `"k1"`)
}

// A form that is at rest somewhere must be read for ever.
func TestSealedOfVersion1IsStillOpened(t *testing.T) {
	sealed, err := hex.DecodeString("01026b31504c8092202aadba7dbc230054c286fb2c36d6a4307232c266c67c34084a2ec95ab9e3a68a" +
		"218194343fad94458f1bb3e9420cd769c4179695cac7ff9b2ff552f05882f3583c32b8c32328d50aee")
	require.NoError(t, err)
	got, err := ring(t, "k1").For("tests").Open(sealed, []byte("row 7"))
	require.NoError(t, err)
	require.Equal(t, "as it was written in the first version", string(got))
}

func FuzzOpen(f *testing.F) {
	r := ring(f, "k1", "k2")
	s := r.For("tests")
	f.Add([]byte(nil), []byte(nil))
	f.Add([]byte{version, 255}, []byte("row"))
	f.Add(seal(f, s, "plain", "row"), []byte("row"))
	f.Add(seal(f, r.For("other"), "plain", "row"), []byte("row"))
	f.Fuzz(func(t *testing.T, sealed, associated []byte) {
		before := bytes.Clone(sealed)
		if plain, err := s.Open(sealed, associated); err == nil {
			require.Equal(t, "plain", string(plain), "something was opened that was never sealed")
		}
		require.Equal(t, before, sealed, "what is opened must stay as it is")
	})
}

func BenchmarkSealAndOpen(b *testing.B) {
	s := ring(b, "k1").For("tests")
	plain := []byte(strings.Repeat("x", 500))
	for b.Loop() {
		sealed, _ := s.Seal(plain, nil)
		if _, err := s.Open(sealed, nil); err != nil {
			b.Fatal(err)
		}
	}
}
