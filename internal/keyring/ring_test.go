package keyring

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

// encoded is a key made of a short text, for tests.
func encoded(text string) string {
	return base64.StdEncoding.EncodeToString([]byte((text + strings.Repeat(".", keySize))[:keySize]))
}

func ring(t testing.TB, ids ...string) *Ring {
	t.Helper()
	entries := make([]string, len(ids))
	for i, id := range ids {
		entries[i] = id + ":" + encoded("the key "+id)
	}
	r, err := Parse(strings.Join(entries, ","))
	require.NoError(t, err)
	return r
}

func TestParse(t *testing.T) {
	secret := []byte("\xfb\xff\xbe" + strings.Repeat("k", keySize-3)) // with characters that the alphabets differ in
	for name, text := range map[string]string{
		"one":              "k1:" + base64.StdEncoding.EncodeToString(secret),
		"without padding":  "k1:" + base64.RawStdEncoding.EncodeToString(secret),
		"for URLs":         "k1:" + base64.URLEncoding.EncodeToString(secret),
		"raw for URLs":     "k1:" + base64.RawURLEncoding.EncodeToString(secret),
		"spaces and lines": " k1:" + base64.StdEncoding.EncodeToString(secret) + ",\n\tk2:" + encoded("2") + "\n",
		"longest id":       strings.Repeat("a", idLength) + ":" + encoded("1"),
		"every character":  "0-9az:" + encoded("1"),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Parse(text)
			require.NoError(t, err)
			require.NotEmpty(t, r.IDs())
			if strings.HasPrefix(strings.TrimSpace(text), "k1") {
				require.Equal(t, secret, r.keys[0].secret)
			}
		})
	}
	require.Equal(t, []string{"new", "old"}, ring(t, "new", "old").IDs())
}

// No mistake may show in a log what was written: it may be a key, also where an id belongs.
func TestParseRefusesWithoutShowingKeys(t *testing.T) {
	a, b := encoded("one"), encoded("two")
	for name, c := range map[string]struct{ text, says string }{
		"nothing":          {" \n", "no encryption key"},
		"no id":            {a, "key 1 has no id"},
		"empty id":         {":" + a, "id of encryption key 1"},
		"the wrong way":    {a + ":k1", "id of encryption key 1"},
		"capitals":         {"K1:" + a, "id of encryption key 1"},
		"other characters": {"k_1:" + a, "id of encryption key 1"},
		"not ASCII":        {"schlüssel:" + a, "id of encryption key 1"},
		"id too long":      {strings.Repeat("k", idLength+1) + ":" + a, "id of encryption key 1"},
		"comma too many":   {"k1:" + a + ",", "key 2 is empty"},
		"only an id":       {"k1:", "has 0 bytes"},
		"not base64":       {"k1:" + a + ",k2:" + b[:20] + "!" + b[21:], "key 2 is not base64"},
		"hex":              {"k1:" + strings.Repeat("ab", keySize), "has 48 bytes"},
		"short":            {"k1:" + base64.StdEncoding.EncodeToString([]byte("sixteen bytes ..")), "has 16 bytes and must have 32"},
		"loose last bits":  {"k1:" + strings.Repeat("A", 41) + "BC", "not base64"},
		"zeros":            {"k1:" + base64.StdEncoding.EncodeToString(make([]byte, keySize)), "one byte repeated"},
		"the same id":      {"k1:" + a + ",k2:" + b + ",k1:" + encoded("three"), "keys 1 and 3 have the same id"},
		"the same key":     {"k1:" + a + ",k2:" + a, "keys 1 and 2 are the same key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(c.text)
			require.True(t, fault.Is(err, fault.Invalid), "%v", err)
			require.Contains(t, fault.PublicMessage(err), c.says)
			for _, word := range strings.FieldsFunc(c.text, func(r rune) bool { return r == ',' || r == ':' }) {
				if len(word) > 8 {
					require.NotContains(t, err.Error(), word[:8])
				}
			}
		})
	}
}

func TestGenerate(t *testing.T) {
	one, two := Generate(), Generate()
	require.NotEqual(t, one, two)
	r, err := Parse(one + "," + two)
	require.NoError(t, err)
	require.Regexp(t, `^20\d\d-\d\d-\d\d-[0-9a-f]{4}$`, r.IDs()[0])
	require.Contains(t, r.IDs()[0], time.Now().UTC().Format("2006-01-"))
}

func TestNoVerbPrintsKeys(t *testing.T) {
	r := ring(t, "k1")
	s := r.For("tests")
	holder := struct {
		Ring   *Ring
		Sealer *Sealer
	}{r, s}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, of := range []any{r, *r, s, *s, holder} { //nolint:govet // copied to be printed
			printed := fmt.Sprintf(verb, of)
			require.NotContains(t, printed, "the key", verb)
			require.NotContains(t, printed, "116 104 101", verb)
			require.NotContains(t, printed, "746865206b6579", verb)
			require.NotContains(t, printed, "0x74, 0x68", verb)
		}
	}
	require.Equal(t, "keyring(k1)", fmt.Sprint(r))
}
