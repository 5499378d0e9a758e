package access_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"hash"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// forge signs what it is given, as whoever attacks would: JWTs of one's own making.
type forge struct {
	header, claims map[string]any
	sign           func(text string) []byte
}

func (f forge) token(t testing.TB) string {
	t.Helper()
	part := func(v any) string {
		text, err := json.Marshal(v)
		must(t, err)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(f.header) + "." + part(f.claims)
	return text + "." + base64.RawURLEncoding.EncodeToString(f.sign(text))
}

func signES256(t testing.TB, key *ecdsa.PrivateKey) func(string) []byte {
	return func(text string) []byte {
		sum := sha256.Sum256([]byte(text))
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		must(t, err)
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	}
}

func signHMAC(secret []byte, how func() hash.Hash) func(string) []byte {
	return func(text string) []byte {
		mac := hmac.New(how, secret)
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
}

// planted puts a key into the database whose private half the test has, and gives it with a genuine token's claims.
func planted(t testing.TB, d *desk) (models.SigningKey, *ecdsa.PrivateKey) {
	t.Helper()
	ctx := context.Background()
	d.login(t)
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	must(t, err)
	keys, err := d.store.SigningKeys(ctx)
	must(t, err)
	key := models.SigningKey{
		ID: uuid.NewString(), Algorithm: "ES256", Public: public, Private: []byte("sealed elsewhere"),
		CreatedAt: d.now.Add(time.Second), RetiresAt: d.now.Add(24 * time.Hour), ForgottenAt: d.now.Add(48 * time.Hour),
	}
	must(t, d.store.AddSigningKey(ctx, key, keys[0].ID, d.now.Add(24*time.Hour), anEvent(models.AuditSigningKeyCreated)))
	return key, private
}

func TestForgedTokens(t *testing.T) {
	d := newDesk(t)
	key, private := planted(t, d)
	_, genuine := d.login(t)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	job := d.newPrincipal(t, "job")
	engine, _ := d.mint(t, access.MintInput{})
	good := forge{
		header: map[string]any{"alg": "ES256", "kid": key.ID, "typ": "at+jwt"},
		claims: claimsOf(t, genuine), sign: signES256(t, private),
	}
	d.caller(t, good.token(t)) // that is how it is done right
	pem := []byte(base64.StdEncoding.EncodeToString(key.Public))
	second := float64(d.now.Unix())
	header := func(name string, value any) func(*forge) {
		return func(f *forge) { f.header[name] = value }
	}
	claim := func(name string, value any) func(*forge) {
		return func(f *forge) { f.claims[name] = value }
	}
	signer := func(sign func(string) []byte) func(*forge) { return func(f *forge) { f.sign = sign } }
	both := func(changes ...func(*forge)) func(*forge) {
		return func(f *forge) {
			for _, change := range changes {
				change(f)
			}
		}
	}
	nothing := func(string) []byte { return nil }
	cases := map[string]struct {
		change func(*forge)
		says   string
	}{
		"no algorithm":                 {both(header("alg", "none"), signer(nothing)), ""},
		"no algorithm, other case":     {both(header("alg", "nOnE"), signer(nothing)), ""},
		"HS256 with the public key":    {both(header("alg", "HS256"), signer(signHMAC(key.Public, sha256.New))), ""},
		"HS256 with its text":          {both(header("alg", "HS256"), signer(signHMAC(pem, sha256.New))), ""},
		"HS512 with the public key":    {both(header("alg", "HS512"), signer(signHMAC(key.Public, sha512.New))), ""},
		"ES384":                        {header("alg", "ES384"), ""},
		"signed by another key":        {signer(signES256(t, stranger)), "not signed here"},
		"a key in its header":          {both(signer(signES256(t, stranger)), header("jwk", jwkOf(stranger))), "not signed here"},
		"an unknown key":               {header("kid", uuid.NewString()), "not in use"},
		"no key":                       {func(f *forge) { delete(f.header, "kid") }, "not in use"},
		"a key that is a path":         {header("kid", "../../dev/null"), "not in use"},
		"another type":                 {header("typ", "JWT"), "not signed here"},
		"an ID token":                  {header("typ", "id_token+jwt"), "not signed here"},
		"no type":                      {func(f *forge) { delete(f.header, "typ") }, "not signed here"},
		"a type that is no text":       {header("typ", []string{"at+jwt"}), ""},
		"something critical":           {both(header("crit", []string{"b64"}), header("b64", false)), ""},
		"another issuer":               {claim("iss", "https://evil.example"), "not accepted here"},
		"no issuer":                    {func(f *forge) { delete(f.claims, "iss") }, "not accepted here"},
		"expired":                      {claim("exp", second), "expired"},
		"no expiry":                    {func(f *forge) { delete(f.claims, "exp") }, ""},
		"an expiry that is text":       {claim("exp", "never"), ""},
		"an expiry beyond all numbers": {claim("exp", 1e300), ""},
		"not yet good":                 {claim("nbf", second+60), "not good yet"},
		"another principal":            {claim("sub", job.ID), "revoked"},
		"no principal":                 {func(f *forge) { delete(f.claims, "sub") }, ""},
		"no id":                        {func(f *forge) { delete(f.claims, "jti") }, ""},
		"an id that there is not":      {claim("jti", uuid.NewString()), "revoked"},
		"the id of an engine token":    {claim("jti", engine.ID), "revoked"},
		"an id with a NUL":             {claim("jti", "a\x00b"), "revoked"},
		"an empty signature":           {signer(nothing), ""},
		"a signature of zeros":         {signer(func(string) []byte { return make([]byte, 64) }), ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := forge{header: maps.Clone(good.header), claims: maps.Clone(good.claims), sign: good.sign}
			c.change(&f)
			token := f.token(t)
			for range 2 {
				d.refused(t, token, c.says)
			}
			_, err := d.exchanged(token, "")
			wantOAuth(t, err, "invalid_grant", 400)
		})
	}
	// What a token claims beside counts for nothing: the row does.
	f := forge{header: good.header, claims: maps.Clone(good.claims), sign: good.sign}
	f.claims["scope"], f.claims["principal"], f.claims["exp"] = "PRINCIPAL_ROLE:service_admin", "somebody", second+1e7
	if c := d.caller(t, f.token(t)); c.Principal != models.RootPrincipal {
		t.Errorf("it came as %q", c.Principal)
	}
	d.now = d.now.Add(2 * time.Hour)
	d.refused(t, f.token(t), "expired")
}

func jwkOf(key *ecdsa.PrivateKey) map[string]string {
	bytes, _ := key.PublicKey.Bytes()
	return map[string]string{
		"kty": "EC", "crv": "P-256", "x": base64.RawURLEncoding.EncodeToString(bytes[1:33]), "y": base64.RawURLEncoding.EncodeToString(bytes[33:]),
	}
}

func TestMangledTokens(t *testing.T) {
	d := newDesk(t)
	_, genuine := d.login(t)
	parts := strings.Split(genuine, ".")
	for name, token := range map[string]string{
		"no signature":       parts[0] + "." + parts[1] + ".",
		"two parts":          parts[0] + "." + parts[1],
		"four parts":         genuine + ".x",
		"a part more":        genuine + ".",
		"truncated":          genuine[:len(genuine)-4],
		"truncated claims":   parts[0] + "." + parts[1][:10] + "." + parts[2],
		"padded":             parts[0] + "." + parts[1] + "==." + parts[2],
		"a line feed within": parts[0] + "." + parts[1] + ".\n" + parts[2],
		"in front of it":     "x" + genuine,
		"behind it":          genuine + "x",
		"other order":        parts[1] + "." + parts[0] + "." + parts[2],
		"in other letters":   strings.ToUpper(genuine),
		"only dots":          "..",
		"as JSON":            `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"very long":          parts[0] + "." + strings.Repeat("A", 1<<20) + "." + parts[2],
		"an engine token's":  "slc_" + genuine,
		"an old access one":  "sla_" + strings.Repeat("A", 43),
	} {
		t.Run(name, func(t *testing.T) { d.refused(t, token, "") })
	}
}

// Whatever comes as a bearer token, only the one that there is opens anything, and nothing breaks.
func FuzzBearer(f *testing.F) {
	d := newDesk(f)
	_, genuine := d.login(f)
	_, engine := d.mint(f, access.MintInput{})
	for _, seed := range []string{genuine, engine, "", ".", "..", "...", "slc_", "a.b.c", "e30.e30.", "e30.e30.e30", genuine + genuine, genuine[1:]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, bearer string) {
		caller, err := d.auth.Authenticate(context.Background(), bearer)
		switch {
		case bearer == genuine || bearer == engine:
			must(t, err)
		case err == nil:
			t.Fatalf("%q opened the door to %s", bearer, caller.Principal)
		case !fault.Is(err, fault.Unauthenticated):
			t.Fatalf("%q is answered with %v", bearer, err)
		}
	})
}
