package oidc_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/access/oidc"
	"github.com/sluice-data/sluice/internal/fault"
)

func identify(t *testing.T, issuers *oidc.Issuers, bearer string) access.External {
	t.Helper()
	who, ours, err := issuers.Identify(context.Background(), bearer)
	require.NoError(t, err)
	require.True(t, ours)
	return who
}

// refuses checks that the token is refused with a sentence that has the words, and gives the sentence.
func refuses(t *testing.T, issuers *oidc.Issuers, bearer string, code fault.Code, words string) string {
	t.Helper()
	who, ours, err := issuers.Identify(context.Background(), bearer)
	require.Error(t, err, "it is accepted as %+v", who)
	require.True(t, ours)
	require.Equal(t, code, fault.CodeOf(err), err.Error())
	require.Contains(t, fault.PublicMessage(err), words)
	return fault.PublicMessage(err)
}

func TestTwoIssuersAtOnce(t *testing.T) {
	a, b, c := newIDP(t), newIDP(t), newClock()
	issuers := accepting(t, c, a.entry()+b.entry("principal-prefix: b/", "can-govern: false", "create-principals: true"), a, b)
	for range 2 { // the second time from memory
		require.Equal(t, access.External{
			Issuer: a.server.URL, Subject: "ann", Principal: "ann", Govern: true, ExpiresAt: c.now().Add(time.Hour + time.Minute),
		}, identify(t, issuers, a.token(t, c.now(), nil)))
		require.Equal(t, access.External{
			Issuer: b.server.URL, Subject: "ann", Principal: "b/ann", CreatePrincipal: true, ExpiresAt: c.now().Add(time.Hour + time.Minute),
		}, identify(t, issuers, b.token(t, c.now(), nil)))
	}
	// One issuer's key does not speak for the other, the key id being the same.
	refuses(t, issuers, a.signed(t, a.signer, "JWT", b.claims(c.now(), nil)), fault.Unauthenticated, "no key that its issuer publishes")
}

func TestTokensOfOthersAreNotJudged(t *testing.T) {
	a, b, c := newIDP(t), newIDP(t), newClock()
	issuers := accepting(t, c, a.entry(), a)
	good := a.token(t, c.now(), nil)
	for name, bearer := range map[string]string{
		"nothing":                   "",
		"an engine token":           "slc_" + strings.Repeat("x", 43),
		"another issuer":            b.token(t, c.now(), nil),
		"two parts":                 good[:strings.LastIndex(good, ".")],
		"five parts":                "eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d",
		"no base64":                 "ey.!.!",
		"no issuer":                 a.token(t, c.now(), map[string]any{"iss": nil}),
		"an issuer that is no text": a.token(t, c.now(), map[string]any{"iss": 7}),
		"a trailing slash":          a.token(t, c.now(), map[string]any{"iss": a.server.URL + "/"}),
		"a large opaque one":        strings.Repeat("e", 20<<10),
	} {
		t.Run(name, func(t *testing.T) {
			_, ours, err := issuers.Identify(context.Background(), bearer)
			require.NoError(t, err)
			require.False(t, ours)
		})
	}
	require.Zero(t, a.fetched("/keys"), "the issuer was asked for nothing")
}

func TestClaimsThatAreRefused(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, i.entry("roles-claim: groups", "required-claims: {org: acme}"), i)
	good := map[string]any{"org": "acme"}
	require.Equal(t, "ann", identify(t, issuers, i.token(t, c.now(), good)).Principal)
	at := func(d time.Duration) int64 { return c.now().Add(d).Unix() }
	for name, tc := range map[string]struct {
		claims map[string]any
		words  string
	}{
		"expired":                       {map[string]any{"exp": at(-time.Minute)}, "expired at"},
		"no expiry":                     {map[string]any{"exp": nil}, "no expiry"},
		"an expiry that is no number":   {map[string]any{"exp": "tomorrow"}, "not well formed"},
		"an expiry that is no time":     {map[string]any{"exp": 1e300}, "not well formed"},
		"not yet valid":                 {map[string]any{"nbf": at(2 * time.Minute)}, "not valid before"},
		"from the future":               {map[string]any{"iat": at(2 * time.Minute)}, "from the future"},
		"another audience":              {map[string]any{"aud": "other"}, "audience sluice"},
		"other audiences":               {map[string]any{"aud": []string{"other", "sluice2"}}, "audience sluice"},
		"no audience":                   {map[string]any{"aud": nil}, "audience sluice"},
		"an audience that is no text":   {map[string]any{"aud": []any{"sluice", 7}}, "not well formed"},
		"no subject":                    {map[string]any{"sub": nil}, "no claim sub"},
		"a subject that is null":        {map[string]any{"sub": nil}, "no claim sub"},
		"a subject that is no text":     {map[string]any{"sub": 7}, "not well formed"},
		"a required claim is missing":   {map[string]any{"org": nil}, "claim org"},
		"a required claim is another":   {map[string]any{"org": "acme2"}, "claim org"},
		"a required claim is an object": {map[string]any{"org": map[string]any{"acme": "acme"}}, "claim org"},
		"roles that are no texts":       {map[string]any{"groups": []any{"a", 7}}, "groups"},
		"roles that are a number":       {map[string]any{"groups": 7}, "groups"},
		"root":                          {map[string]any{"sub": "root"}, "principal root"},
		"root otherwise":                {map[string]any{"sub": "Root"}, "principal root"},
		"an empty name":                 {map[string]any{"sub": ""}, "is empty"},
		"a name with an invisible sign": {map[string]any{"sub": "root\u200b"}, "invisible"},
		"a name with a space behind":    {map[string]any{"sub": "root "}, "white space"},
		"a long name":                   {map[string]any{"sub": strings.Repeat("é", 257)}, "256 characters"},
		"a line break in the name":      {map[string]any{"sub": "ann\nbob"}, "control"},
		"a reserved name":               {map[string]any{"sub": " system$x"}, "SYSTEM$"},
	} {
		t.Run(name, func(t *testing.T) {
			claims := map[string]any{"org": "acme"}
			for k, v := range tc.claims {
				claims[k] = v
			}
			sentence := refuses(t, issuers, i.token(t, c.now(), claims), fault.Unauthenticated, tc.words)
			require.True(t, strings.HasPrefix(sentence, "The token of "+i.server.URL), sentence)
		})
	}
}

func TestClocksMayDifferALittle(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, i.entry("clock-skew: 30s"), i)
	ahead := c.now().Add(30 * time.Second).Unix()
	identify(t, issuers, i.token(t, c.now(), map[string]any{"iat": ahead, "nbf": ahead}))
	token := i.token(t, c.now(), map[string]any{"exp": c.now().Add(time.Minute).Unix()})
	identify(t, issuers, token)
	c.pass(89 * time.Second)
	identify(t, issuers, token)
	c.pass(time.Second) // what is remembered expires as well
	refuses(t, issuers, token, fault.Unauthenticated, "expired at")
}

// Whose a token is that has expired is known, for the audit; of a forged or misdirected one nothing is.
func TestWhoseAnExpiredTokenIs(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, i.entry("clock-skew: 0s"), i)
	expired := map[string]any{"exp": c.now().Add(-time.Hour).Unix()}
	for token, principal := range map[string]string{
		i.token(t, c.now(), expired): "ann",
		i.token(t, c.now(), map[string]any{"nbf": c.now().Add(time.Hour).Unix()}):  "ann",
		i.token(t, c.now(), map[string]any{"exp": expired["exp"], "aud": "other"}): "",
		i.token(t, c.now(), map[string]any{"aud": "other"}):                        "",
		i.signed(t, newKey(t, "other"), "JWT", i.claims(c.now(), expired)):         "",
	} {
		who, ours, err := issuers.Identify(context.Background(), token)
		require.True(t, ours)
		require.Equal(t, fault.Unauthenticated, fault.CodeOf(err))
		require.Equal(t, principal, who.Principal, fault.PublicMessage(err))
	}
}

func TestForgeries(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, i.entry(), i)
	public, err := x509.MarshalPKIXPublicKey(i.signer.Public().Key)
	require.NoError(t, err)
	claims := i.claims(c.now(), nil)
	good := strings.Split(i.token(t, c.now(), nil), ".")
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	stranger := newKey(t, "first")
	small, err := rsa.GenerateKey(rand.Reader, 1024) //nolint:gosec // it is to be refused
	require.NoError(t, err)
	weak := jose.JSONWebKey{Key: small, KeyID: "weak", Algorithm: "RS256", Use: "sig"}
	sealing := newKey(t, "sealing")
	sealing.Use = "enc"
	secret := jose.JSONWebKey{Key: []byte(strings.Repeat("k", 32)), KeyID: "secret", Algorithm: "HS256", Use: "sig"}
	i.publish(i.signer.Public(), weak.Public(), sealing.Public(), secret)
	for name, tc := range map[string]struct{ token, words string }{
		"no signature": {part(`{"alg":"none"}`) + "." + good[1] + ".", "algorithm"},
		"no algorithm": {part(`{"typ":"JWT"}`) + "." + good[1] + "." + good[2], "algorithm"},
		"the public key as a secret": {
			i.signed(t, jose.JSONWebKey{Key: public, KeyID: "first", Algorithm: "HS256"}, "JWT", claims), "algorithm",
		},
		"a secret that is published": {i.signed(t, secret, "JWT", claims), "algorithm"},
		"another key":                {i.signed(t, stranger, "JWT", claims), "no key"},
		"a key that is too small":    {i.signed(t, weak, "JWT", claims), "no key"},
		"a key for encryption":       {i.signed(t, sealing, "JWT", claims), "no key"},
		"other claims":               {good[0] + "." + part(fmt.Sprintf(`{"iss":%q,"sub":"admin"}`, i.server.URL)) + "." + good[2], "no key"},
		"half a signature":           {good[0] + "." + good[1] + "." + good[2][:40], "no key"},
		"an extension that must be known": {
			part(`{"alg":"ES256","kid":"first","crit":["x"],"x":1}`) + "." + good[1] + "." + good[2], "no key",
		},
		"a logout token": {i.signed(t, i.signer, "logout+jwt", claims), "type"},
	} {
		t.Run(name, func(t *testing.T) {
			refuses(t, issuers, tc.token, fault.Unauthenticated, tc.words)
		})
	}
}

func TestTheKeyInATokenProvesNothing(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, i.entry(), i)
	stranger := newKey(t, "first")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: stranger.Key}, &jose.SignerOptions{EmbedJWK: true})
	require.NoError(t, err)
	signed, err := signer.Sign([]byte(fmt.Sprintf(`{"iss":%q,"aud":"sluice","sub":"ann","exp":%d}`, i.server.URL, c.now().Add(time.Hour).Unix())))
	require.NoError(t, err)
	token, err := signed.CompactSerialize()
	require.NoError(t, err)
	refuses(t, issuers, token, fault.Unauthenticated, "no key")
}

func TestLargeTokens(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, i.entry(), i)
	refuses(t, issuers, i.token(t, c.now(), map[string]any{"pad": strings.Repeat("x", 16<<10)}), fault.Unauthenticated, "16 KiB")
	identify(t, issuers, i.token(t, c.now(), map[string]any{"pad": strings.Repeat("x", 8<<10)}))
}

func TestAlgorithms(t *testing.T) {
	i, c := newIDP(t), newClock()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	signed := func(alg, published string) string {
		key := jose.JSONWebKey{Key: private, KeyID: "r", Algorithm: alg}
		shown := key.Public()
		shown.Algorithm = published
		i.publish(shown)
		return i.signed(t, key, "", i.claims(c.now(), map[string]any{"jti": alg + published}))
	}
	all := accepting(t, c, i.entry(), i)
	identify(t, all, signed("RS256", "RS256"))
	c.pass(5 * time.Second)
	identify(t, all, signed("PS512", "")) // a key without an algorithm serves any of its kind
	refuses(t, accepting(t, c, i.entry(), i), signed("RS384", "RS256"), fault.Unauthenticated, "no key")
	one := accepting(t, c, i.entry("algorithms: [RS256]"), i)
	identify(t, one, signed("RS256", "RS256"))
	refuses(t, one, signed("PS256", "PS256"), fault.Unauthenticated, "Accepted are RS256.")
}
