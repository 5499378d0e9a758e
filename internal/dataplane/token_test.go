package dataplane

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func tokenMaker(t testing.TB) (*Service, policy.Caller, catalog.DataTable) {
	ring, err := keyring.Parse(keyring.Generate())
	require.NoError(t, err)
	return &Service{Deps: Deps{Tokens: ring.For("page-token"), Now: time.Now}}, policy.Caller{PrincipalID: "ada"}, catalog.DataTable{Row: models.Table{ID: "t", UUID: "u"}}
}

func TestTokensComeBackAsTheyWere(t *testing.T) {
	s, ada, table := tokenMaker(t)
	for _, was := range []pageToken{
		{Snapshot: -1, Schema: 3, Digest: []byte{1}, Key: []byte{0, 255}, Path: "file:///ä", Row: 1 << 40, Left: 7}, {Snapshot: 1 << 62}, {},
	} {
		text, err := s.sealToken(ada, table, was)
		require.NoError(t, err)
		got, err := s.openToken(ada, table, text)
		require.NoError(t, err)
		was.Version, was.Table, was.Issued = got.Version, got.Table, got.Issued
		require.Equal(t, was, *got)
	}
}

func TestTokensAreBoundAndPadded(t *testing.T) {
	s, ada, table := tokenMaker(t)
	lengths := map[int]int{}
	for n := range 64 {
		text, err := s.sealToken(ada, table, pageToken{Snapshot: 1, Key: make([]byte, n)})
		require.NoError(t, err)
		lengths[len(text)]++
		_, err = s.openToken(policy.Caller{PrincipalID: "bob"}, table, text)
		require.Equal(t, errWrongToken(), err)
		_, err = s.openToken(ada, catalog.DataTable{Row: models.Table{ID: "t", UUID: "other"}}, text)
		require.Equal(t, errWrongToken(), err)
		_, err = s.openToken(ada, catalog.DataTable{Row: models.Table{ID: "other", UUID: "u"}}, text)
		require.Equal(t, errWrongToken(), err)
	}
	require.LessOrEqual(t, len(lengths), 3, "64 lengths of a key make few lengths of a token")
}

func FuzzOpenToken(f *testing.F) {
	s, ada, table := tokenMaker(f)
	good, err := s.sealToken(ada, table, pageToken{Snapshot: 1, Path: "p"})
	require.NoError(f, err)
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add("")
	f.Add(good + "\n")
	f.Add(strings.Repeat("A", longestToken+1))
	odd, err := s.Tokens.Seal([]byte(`{"v":1,"t":"t","s":"zz"}`), tokenBelongsTo(ada, table))
	require.NoError(f, err)
	f.Add(base64.RawURLEncoding.EncodeToString(odd))
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := s.openToken(ada, table, text); err != nil {
			require.Equal(t, fault.Invalid, fault.CodeOf(err))
			require.Equal(t, errWrongToken(), err)
		} else {
			require.Equal(t, good, text)
		}
	})
}

func FuzzParseRowPlace(f *testing.F) {
	for _, s := range []string{"", "0.0", "3.14", "-1.2", "1.", "x", "1.2.3", "01.2", "99999999999999999999.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseRowPlace(text)
		if err != nil {
			require.Equal(t, fault.Invalid, fault.CodeOf(err))
		} else if text != "" {
			require.Equal(t, text, p.String())
			require.False(t, p.Block < 0 || p.Row < 0)
		}
	})
}
