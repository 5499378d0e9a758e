package oidc_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

func TestClaimsBecomeAPrincipalAndRoles(t *testing.T) {
	i, c := newIDP(t), newClock()
	const claims = `{
		"email": "ann@acme.com", "realm_access": {"roles": ["lake-a", "lake-b", "offline_access", "lake-a"], "user": "ann"},
		"scope": "read  lake-write", "https://acme.com/roles": ["x"], "a~b": "tilde", "list": ["zero", "one"],
		"kubernetes.io": {"namespace": "jobs", "serviceaccount": {"name": "etl"}}, "none": [], "odd": ["SYSTEM$x", "", "ok"]
	}`
	for name, tc := range map[string]struct {
		settings  []string
		principal string
		roles     []string
	}{
		"as they are":        {nil, "ann", nil},
		"a nested claim":     {[]string{"principal-claim: realm_access.user"}, "ann", nil},
		"a pointer":          {[]string{"principal-claim: /kubernetes.io/serviceaccount/name"}, "etl", nil},
		"a pointer, escaped": {[]string{"principal-claim: /a~0b", "roles-claim: /https:~1~1acme.com~1roles"}, "tilde", []string{"x"}},
		"a place in a list":  {[]string{"principal-claim: list.1"}, "one", nil},
		"a prefix":           {[]string{"principal-prefix: acme/"}, "acme/ann", nil},
		"a rule": {
			[]string{"principal-claim: email", "principal-mapping: [{from: '(?P<who>.*)@acme[.]com', to: '${who}'}]", "principal-prefix: acme/"},
			"acme/ann", nil,
		},
		"the first rule that matches": {[]string{"principal-mapping: [{from: b.*, to: b}, {from: a.*, to: a$$}, {from: ann, to: c}]"}, "a$", nil},
		"roles":                       {[]string{"roles-claim: realm_access.roles"}, "ann", []string{"lake-a", "lake-b", "offline_access"}},
		"roles by rules":              {[]string{"roles-claim: realm_access.roles", "roles-mapping: [{from: 'lake-(.*)', to: $1}]"}, "ann", []string{"a", "b"}},
		"a rule matches as a whole":   {[]string{"roles-claim: realm_access.roles", "roles-mapping: [{from: lake, to: x}, {from: a|b, to: y}]"}, "ann", []string{}},
		"roles separated by spaces":   {[]string{"roles-claim: scope"}, "ann", []string{"lake-write", "read"}},
		"no roles":                    {[]string{"roles-claim: none"}, "ann", []string{}},
		"no claim of roles":           {[]string{"roles-claim: groups"}, "ann", []string{}},
		"names that no role may have": {[]string{"roles-claim: odd"}, "ann", []string{"ok"}},
	} {
		t.Run(name, func(t *testing.T) {
			issuers := accepting(t, c, i.entry(tc.settings...), i)
			var more map[string]any
			require.NoError(t, json.Unmarshal([]byte(claims), &more))
			token := i.token(t, c.now(), more)
			for range 2 {
				who := identify(t, issuers, token)
				require.Equal(t, tc.principal, who.Principal)
				require.Equal(t, tc.roles, who.Roles)
				if len(who.Roles) > 0 {
					who.Roles[0] = "changed" // what a caller does with its copy does not matter to the next
				}
			}
		})
	}
}

func TestAPrincipalThatNoRuleMatches(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, i.entry("principal-mapping: [{from: 'ann', to: 'a'}]"), i)
	refuses(t, issuers, i.token(t, c.now(), map[string]any{"sub": "joann"}), fault.Unauthenticated, "principal-mapping")
	refuses(t, issuers, i.token(t, c.now(), map[string]any{"sub": "ann\n"}), fault.Unauthenticated, "principal-mapping")
}

func TestRequiredClaims(t *testing.T) {
	i, c := newIDP(t), newClock()
	issuers := accepting(t, c, i.entry("required-claims: {email_verified: true, org.id: [7, 8], groups: [lake, sea]}"), i)
	good := map[string]any{"email_verified": true, "org": map[string]any{"id": 8}, "groups": []string{"other", "lake"}}
	identify(t, issuers, i.token(t, c.now(), good))
	for claim, value := range map[string]any{
		"email_verified": false, "org": map[string]any{"id": 9}, "groups": []string{"other"},
	} {
		changed := map[string]any{}
		for k, v := range good {
			changed[k] = v
		}
		changed[claim] = value
		refuses(t, issuers, i.token(t, c.now(), changed), fault.Unauthenticated, claim)
	}
}

// The configurations in testdata are those of the documentation. Each is tried with claims of the form that its issuer
// gives, with keys from a test server.
func TestWorkedConfigurations(t *testing.T) {
	for name, tc := range map[string]struct {
		claims    string
		principal string
		roles     []string
		refused   string // claims that are refused
		why       string
	}{
		"keycloak": {
			`{"aud":["sluice","account"],"azp":"spark","preferred_username":"service-account-spark","realm_access":{"roles":["lake-loaders","default-roles-lake"]}}`,
			"keycloak:service-account-spark", []string{"loaders"},
			`{"aud":"account","preferred_username":"service-account-spark"}`, "audience",
		},
		"entra": {
			`{"aud":"aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee","oid":"0f0f0f0f-0000-0000-0000-000000000001","azp":"x","ver":"2.0","roles":["Lake.Load"]}`,
			"entra:0f0f0f0f-0000-0000-0000-000000000001", []string{"Lake.Load"},
			`{"aud":"aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee","ver":"2.0"}`, "claim oid",
		},
		"okta": {
			`{"aud":"api://default","cid":"0oa1","sub":"ann@acme.com","groups":["Everyone","Lake Analysts"]}`,
			"okta:ann@acme.com", []string{"okta-Analysts"},
			`{"aud":"https://acme.okta.com","sub":"ann@acme.com"}`, "audience",
		},
		"google": {
			`{"aud":"1234567890-abc.apps.googleusercontent.com","azp":"1234567890-abc.apps.googleusercontent.com","hd":"acme.com","email":"ann@acme.com","email_verified":true}`,
			"ann@acme.com", nil,
			`{"aud":"1234567890-abc.apps.googleusercontent.com","email":"ann@acme.com","email_verified":true}`, "claim hd",
		},
		"github": {
			`{"aud":"https://sluice.example.com","sub":"repo:acme/etl:ref:refs/heads/main","repository":"acme/etl","repository_owner_id":"4242"}`,
			"github:etl", nil,
			`{"aud":"https://sluice.example.com","sub":"repo:acme/etl:pull_request","repository_owner_id":"4242"}`, "principal-mapping",
		},
		"kubernetes": {
			`{"aud":["sluice"],"sub":"system:serviceaccount:jobs:etl","kubernetes.io":{"namespace":"jobs","serviceaccount":{"name":"etl"}}}`,
			"k8s:jobs:etl", nil,
			`{"aud":["https://kubernetes.default.svc.cluster.local"],"sub":"system:serviceaccount:jobs:etl"}`, "audience",
		},
	} {
		t.Run(name, func(t *testing.T) {
			i, c := newIDP(t), newClock()
			text, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
			require.NoError(t, err)
			url := regexp.MustCompile(`issuer: (\S+)`).FindStringSubmatch(string(text))[1]
			entry := regexp.MustCompile(`(?m)^\s+(ca-file|discovery-token-file): .*\n`).ReplaceAllString(string(text), "")
			entry = strings.TrimPrefix(entry, "issuers:\n") + "    ca-file: ca.pem\n    jwks-url: " + i.server.URL + "/keys\n"
			issuers := accepting(t, c, entry, i)
			token := func(claims string) string {
				changed := map[string]any{}
				require.NoError(t, json.Unmarshal([]byte(claims), &changed))
				changed["iss"], changed["nbf"] = url, c.now().Add(-time.Second).Unix()
				return i.signed(t, i.signer, "JWT", i.claims(c.now(), changed))
			}
			who := identify(t, issuers, token(tc.claims))
			require.Equal(t, tc.principal, who.Principal)
			require.Equal(t, tc.roles, who.Roles)
			_, _, err = issuers.Identify(t.Context(), token(tc.refused))
			require.Equal(t, fault.Unauthenticated, fault.CodeOf(err))
			require.Contains(t, fault.PublicMessage(err), tc.why)
		})
	}
}
