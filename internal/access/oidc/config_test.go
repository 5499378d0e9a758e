package oidc_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access/oidc"
	"github.com/sluice-data/sluice/internal/fault"
)

func TestFilesThatAreWrong(t *testing.T) {
	const good = "issuers:\n- issuer: https://a.example.com\n  audiences: [x]\n"
	for name, tc := range map[string]struct{ text, want string }{
		"empty":                  {"", "is empty"},
		"a comment":              {"# nothing\n", "is empty"},
		"no YAML":                {"issuers: [", "is no YAML"},
		"no map":                 {"- a\n", "line 1: the file of issuers must be a map"},
		"no issuers":             {"issuers: []\n", "names no issuers"},
		"two documents":          {good + "---\nissuers: []\n", "more than one YAML document"},
		"an unknown part":        {"issuer: []\n", `line 1: "issuer" is no setting of the file of issuers. There are: issuers`},
		"an unknown setting":     {good + "  audience: y\n", `line 4: "audience" is no setting of an issuer. There are: algorithms, audiences,`},
		"a setting twice":        {good + "  audiences: [y]\n", "line 4: audiences is there twice"},
		"an issuer twice":        {good + "- {issuer: https://a.example.com, audiences: [x]}\n", "line 4: the issuer https://a.example.com is there twice"},
		"no URL of the issuer":   {"issuers:\n- audiences: [x]\n", "line 2: an issuer has no issuer"},
		"no audiences":           {"issuers:\n- issuer: https://a.example.com\n", "line 2: the issuer https://a.example.com has no audiences"},
		"an empty audience":      {"issuers:\n- issuer: https://a.example.com\n  audiences: ['']\n", "line 3: a value is missing"},
		"no value":               {"issuers:\n- issuer:\n  audiences: [x]\n", "line 2: a value is missing"},
		"an issuer in the clear": {"issuers:\n- issuer: http://a.example.com\n", "line 2: \"http://a.example.com\" is not encrypted"},
		"an issuer with a query": {"issuers:\n- issuer: https://a.example.com?x\n  audiences: [x]\n", "must not have a query"},
		"an issuer with a user":  {"issuers:\n- issuer: https://a:b@a.example.com\n", "must not have a user"},
		"an issuer that is none": {"issuers:\n- issuer: sluice\n", "is no URL"},
		"another scheme":         {"issuers:\n- issuer: ftp://a.example.com\n", "must begin with https://"},
		"keys in the clear":      {good + "  jwks-url: http://10.0.0.1/keys\n", "line 4: \"http://10.0.0.1/keys\" is not encrypted"},
		"a regular expression":   {good + "  principal-mapping:\n  - {from: 'a(', to: b}\n", "line 5: principal-mapping: \"a(\" is no regular expression"},
		"an expression in two":   {good + "  principal-mapping: [{from: 'a)|(b', to: b}]\n", "is no regular expression"},
		"a group that is not":    {good + "  principal-mapping: [{from: '(a)', to: $2}]\n", "$2 in \"$2\" is no group"},
		"a group run into text":  {good + "  principal-mapping: [{from: '(a)', to: $1_x}]\n", "$1_x in \"$1_x\" is no group"},
		"a lone dollar":          {good + "  principal-mapping: [{from: '(a)', to: 5$}]\n", "is no group"},
		"half a rule":            {good + "  principal-mapping: [{from: a}]\n", "needs from"},
		"more than a rule":       {good + "  principal-mapping: [{from: a, to: b, flags: i}]\n", "\"flags\" is no setting of principal-mapping"},
		"a rule that is no list": {good + "  principal-mapping: {from: a, to: b}\n", "principal-mapping must be a list"},
		"rules without roles":    {good + "  roles-mapping: [{from: a, to: b}]\n", "has a roles-mapping and no roles-claim"},
		"a path":                 {good + "  principal-claim: a..b\n", "line 4: \"a..b\" is no path"},
		"a pointer":              {good + "  roles-claim: /a~2\n", "is no JSON pointer"},
		"a required path":        {good + "  required-claims: {a.: x}\n", "is no path"},
		"no required value":      {good + "  required-claims: {a: []}\n", "has no value for a"},
		"required, no map":       {good + "  required-claims: [a]\n", "required-claims must be a map"},
		"no truth":               {good + "  create-principals: yes\n", "\"yes\" is neither true nor false"},
		"truth as text":          {good + "  can-govern: 'true'\n", "is neither true nor false"},
		"no signature":           {good + "  algorithms: [none]\n", "\"none\" is no algorithm that is accepted"},
		"a shared secret":        {good + "  algorithms: [RS256, HS256]\n", "\"HS256\" is no algorithm"},
		"no algorithms":          {good + "  algorithms: []\n", "algorithms is empty"},
		"no skew":                {good + "  clock-skew: 30\n", "is no duration"},
		"too much skew":          {good + "  clock-skew: 1h\n", "from 0s to 10m0s"},
		"no such authority":      {good + "  ca-file: missing.pem\n", "ca-file of https://a.example.com cannot be read"},
		"no authority":           {good + "  ca-file: issuers.yaml\n", "holds no certificate"},
		"no such token":          {good + "  discovery-token-file: missing\n", "discovery-token-file of https://a.example.com cannot be read"},
		"everybody's of GitHub":  {"issuers:\n- {issuer: https://token.actions.githubusercontent.com, audiences: x}\n", "say with required-claims whose are accepted"},
		"everybody's of Google":  {"issuers:\n- {issuer: https://accounts.google.com, audiences: x}\n", "gives tokens to everybody"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "issuers.yaml")
			require.NoError(t, os.WriteFile(file, []byte(tc.text), 0o600))
			_, err := oidc.Load(file)
			require.Equal(t, fault.Invalid, fault.CodeOf(err), "%v", err)
			require.Contains(t, fault.PublicMessage(err), tc.want)
			require.Contains(t, fault.PublicMessage(err), file)
		})
	}
	_, err := oidc.Load(filepath.Join(t.TempDir(), "missing.yaml"))
	require.Equal(t, fault.Invalid, fault.CodeOf(err))
	require.Contains(t, fault.PublicMessage(err), "missing.yaml does not exist")
}

func TestFilesThatAreRight(t *testing.T) {
	for name, text := range map[string]string{
		"loopback in the clear": "issuers: [{issuer: 'http://127.0.0.1:8080/realms/x', audiences: x}, {issuer: 'http://localhost:1', audiences: x}, {issuer: 'http://[::1]:1', audiences: x}]",
		"anchors":               "issuers:\n- &a {issuer: https://a.example.com, audiences: &x [x]}\n- {issuer: https://b.example.com, audiences: *x}\n",
		"keys with a query":     "issuers: [{issuer: https://a.example.com, audiences: x, jwks-url: 'https://a.example.com/keys?app=x'}]",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "issuers.yaml")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			_, err := oidc.Load(file)
			require.NoError(t, err)
		})
	}
}
