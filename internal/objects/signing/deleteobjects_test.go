package signing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

func TestDeleteBodies(t *testing.T) {
	object := func(key string) string { return "<Object><Key>" + key + "</Key></Object>" }
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(object(fmt.Sprintf("k%d", i)))
		}
		return "<Delete>" + b.String() + "</Delete>"
	}
	for name, c := range map[string]struct {
		body string
		keys []string // nil: refused
	}{
		"as Java sends it":   {`<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Object><Key>a/b</Key></Object><Object><Key>c</Key></Object></Delete>`, []string{"a/b", "c"}},
		"as botocore sends":  {"<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Object><Key>a</Key></Object><Quiet>true</Quiet></Delete>", []string{"a"}},
		"declared, indented": {"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Delete>\n  <Quiet>false</Quiet>\n  <Object>\n    <Key>a</Key>\n  </Object>\n</Delete>\n", []string{"a"}},
		"entities":           {"<Delete>" + object("a&amp;b&#x3D;&lt;") + "</Delete>", []string{"a&b=<"}},
		"spaces":             {"<Delete>" + object(" a ") + "</Delete>", []string{" a "}},
		"conditions":         {"<Delete><Object><Key>a</Key><ETag>e</ETag><Size>1</Size></Object></Delete>", []string{"a"}},
		"empty tag":          {"<Delete><Object><Key>a</Key></Object><Quiet/></Delete>", []string{"a"}},

		"no object":              {"<Delete></Delete>", nil},
		"no key":                 {"<Delete><Object></Object></Delete>", nil},
		"two keys":               {"<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>", nil},
		"a version":              {"<Delete><Object><Key>a</Key><VersionId>1</VersionId></Object></Delete>", nil},
		"a comment in the key":   {"<Delete>" + object("a<!-- x -->b") + "</Delete>", nil},
		"a comment":              {"<Delete><!-- x -->" + object("a") + "</Delete>", nil},
		"an element in the key":  {"<Delete><Object><Key>a<Key>b</Key></Key></Object></Delete>", nil},
		"a document type":        {`<!DOCTYPE Delete [<!ENTITY k "a">]><Delete>` + object("&k;") + "</Delete>", nil},
		"an unknown entity":      {"<Delete>" + object("&k;") + "</Delete>", nil},
		"an instruction":         {"<Delete><?x y?>" + object("a") + "</Delete>", nil},
		"another root":           {"<Remove>" + object("a") + "</Remove>", nil},
		"two roots":              {"<Delete>" + object("a") + "</Delete><Delete>" + object("b") + "</Delete>", nil},
		"text after":             {"<Delete>" + object("a") + "</Delete>x", nil},
		"text between":           {"<Delete>x" + object("a") + "</Delete>", nil},
		"key outside object":     {"<Delete><Key>a</Key></Delete>", nil},
		"object in object":       {"<Delete><Object><Object><Key>a</Key></Object></Object></Delete>", nil},
		"an attribute":           {`<Delete><Object x="y"><Key>a</Key></Object></Delete>`, nil},
		"another namespace":      {`<Delete xmlns="http://example.com/">` + object("a") + "</Delete>", nil},
		"namespaces by prefixes": {`<s:Delete xmlns:s="http://s3.amazonaws.com/doc/2006-03-01/"><s:Object><s:Key>a</s:Key></s:Object></s:Delete>`, nil},
		"not closed":             {"<Delete>" + object("a"), nil},
		"crossed":                {"<Delete><Object><Key>a</Object></Key></Delete>", nil},
		"not XML":                {`{"Objects":[{"Key":"a"}]}`, nil},
		"too many":               {many(1001), nil},
	} {
		keys, err := deleteKeys(c.body, maxDeleteKeys)
		if c.keys == nil {
			assert.Error(t, err, name)
			_, err = deleted("lake", c.body)
			assert.True(t, fault.Is(err, fault.Invalid), name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, c.keys, keys, name)
	}
	keys, err := deleteKeys(many(1000), maxDeleteKeys)
	require.NoError(t, err)
	assert.Len(t, keys, 1000)
	_, err = deleted("lake", "<Delete>"+object("a/../b")+"</Delete>")
	assert.True(t, fault.Is(err, fault.Invalid))
	_, err = deleted("lake", strings.Repeat(" ", maxDeleteBody+1))
	assert.True(t, fault.Is(err, fault.Invalid))
}

// TestDeletesAreSignedOverTheirBody: who has one list signed cannot send another.
func TestDeletesAreSignedOverTheirBody(t *testing.T) {
	sum := sha256.Sum256([]byte(deleteBody))
	hash := hex.EncodeToString(sum[:])
	for given, ok := range map[string]bool{"": true, "UNSIGNED-PAYLOAD": true, hash: true, strings.Repeat("0", 64): false, "STREAMING-UNSIGNED-PAYLOAD-TRAILER": false} {
		r := request("POST", "/lake?delete", "Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg==", "x-amz-checksum-crc32", "AAAAAA==")
		if given != "" {
			r.Headers["x-amz-content-sha256"] = []string{given}
		}
		r.Body = deleteBody
		signed, err := newSigner().Sign(profile(), t1(full()), r)
		if !ok {
			assert.True(t, fault.Is(err, fault.Invalid), "%s: %v", given, err)
			continue
		}
		require.NoError(t, err, given)
		value := append(signed.Headers["X-Amz-Content-Sha256"], signed.Headers["x-amz-content-sha256"]...)
		assert.Equal(t, []string{hash}, value, given)
		assert.Contains(t, signed.Headers["Authorization"][0], "content-md5;host;x-amz-checksum-crc32;x-amz-content-sha256;x-amz-date")
		assert.False(t, signed.Cacheable)
	}
}

// TestLocatingALongDelete reads no more of the body than its first key; signing reads it all.
func TestLocatingALongDelete(t *testing.T) {
	r := request("POST", "/lake?delete")
	r.Body = "<Delete><Object><Key>wh/ns/t1/a</Key></Object><Object><Key>" + strings.Repeat("&#x61;", 300_000) + "<broken"
	at, err := Locate(profile(), r)
	require.NoError(t, err)
	require.Equal(t, "s3://lake/wh/ns/t1/a", at)
	allocated := testing.AllocsPerRun(10, func() { _, _ = Locate(profile(), r) })
	require.Less(t, allocated, 1_000.0)
	_, err = newSigner().Sign(profile(), t1(full()), r)
	require.True(t, fault.Is(err, fault.Invalid), "%v", err)
}
