package oidc

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
)

func TestVerifiedTokensAreBounded(t *testing.T) {
	now := time.Now()
	v := newVerified(100)
	hash := func(n int) [sha256.Size]byte { return sha256.Sum256([]byte(fmt.Sprint(n))) }
	for n := range 1000 {
		v.keep(hash(n), known{who: access.External{Principal: fmt.Sprint(n), ExpiresAt: now.Add(time.Hour)}}, now)
		k, ok := v.find(hash(n), now)
		require.True(t, ok)
		require.Equal(t, fmt.Sprint(n), k.who.Principal)
	}
	require.Len(t, v.tokens, 100)
	_, ok := v.find(hash(999), now.Add(time.Hour))
	require.False(t, ok, "it has expired")
}

func TestAFetchThatHangsIsGivenUp(t *testing.T) {
	k := &keys{
		issuer: "https://a.example.com", timeout: 20 * time.Millisecond, now: time.Now, log: slog.New(slog.DiscardHandler),
		fetch: func(ctx context.Context) (*keySet, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
	_, err := k.usable(t.Context())
	require.True(t, fault.Is(err, fault.Unavailable), err)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, t.Context().Err(), "the request itself had time")
}

func FuzzClaimPaths(f *testing.F) {
	for _, path := range []string{"sub", "realm_access.roles", "/a~1b/0", "/a~0b", "a..b", "/", "~", "list.00"} {
		f.Add(path, `{"sub":"x","realm_access":{"roles":["a",1,null]},"a/b":[{"c":1}],"list":[[]]}`)
	}
	f.Add("exp", `{"exp":1e309,"aud":["x"]}`)
	f.Fuzz(func(t *testing.T, text, payload string) {
		p, err := parsePath(text)
		if err != nil {
			return
		}
		c, err := parseClaims([]byte(payload))
		if err != nil {
			return
		}
		value, ok := c.find(p)
		if ok && value == nil {
			t.Error("an absent claim was found")
		}
		if _, err := c.texts(p); err == nil && ok {
			switch value.(type) {
			case string, []any:
			default:
				t.Errorf("%T was taken for texts", value)
			}
		}
		// What is written for a name leads to the member of that name.
		pointer := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(text)
		if exact, err := parsePath(pointer); err != nil || len(exact) != 1 || exact[0] != text {
			t.Errorf("%q became %q, %v", pointer, exact, err)
		}
		if at, err := c.instant(text); err == nil && at != nil {
			if _, err := json.Marshal(at); err != nil {
				t.Errorf("%s is no time: %v", text, err)
			}
		}
	})
}

func FuzzConfig(f *testing.F) {
	f.Add("issuers:\n- issuer: https://a.example.com\n  audiences: [x]\n  principal-mapping: [{from: '(a)', to: '${1}'}]\n")
	f.Add("issuers: [{issuer: http://localhost, audiences: x, required-claims: {a: [1, true]}, algorithms: RS256, clock-skew: 1m}]")
	f.Add("issuers: &a [*a]")
	f.Add("? {a: b}\n: c")
	f.Fuzz(func(t *testing.T, text string) {
		cfg, err := parse("issuers.yaml", []byte(text))
		if err != nil {
			if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(fault.PublicMessage(err), "issuers.yaml") {
				t.Errorf("the error is %v", err)
			}
			return
		}
		for _, i := range cfg.issuers {
			if checkLocation(i.url) != "" || len(i.audiences) == 0 || len(i.principal) == 0 || len(i.algorithms) == 0 {
				t.Errorf("it is accepted: %+v", i)
			}
		}
	})
}
