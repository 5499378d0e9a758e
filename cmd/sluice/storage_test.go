package main

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStorageSecretsAreReadOfTheEnvironment(t *testing.T) {
	t.Parallel()
	r, env := record(t, nil)
	code, _, errOut := command(env, "storage", "set-secrets", "lake")
	assert.Equal(t, exitUsage, code)
	assertOneSentence(t, errOut, "SLUICE_STORAGE_ACCESS_KEY")
	assert.Empty(t, r.asked)

	keys := maps.Clone(env)
	keys["SLUICE_STORAGE_ACCESS_KEY"], keys["SLUICE_STORAGE_SECRET_KEY"] = "AKIA", "the-very-secret"
	code, out, errOut := command(keys, "storage", "set-secrets", "lake")
	assert.Equal(t, exitOK, code, errOut)
	assert.NotContains(t, out+errOut, "the-very-secret")
	code, _, errOut = command(env, "storage", "set-secrets", "lake", "--remove")
	assert.Equal(t, exitOK, code, errOut)
	assert.Equal(t, []string{
		`PUT /governance/v1/catalogs/lake/storage-secrets {"accessKey":"AKIA","secretKey":"the-very-secret"}`,
		`DELETE /governance/v1/catalogs/lake/storage-secrets`,
	}, r.asked)

	code, _, errOut = command(keys, "storage", "set-secrets", "lake", "--secret-key", "x")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errOut, "unknown flag")
}

func TestValidationIsShownAndCounts(t *testing.T) {
	t.Parallel()
	const asked = "POST /governance/v1/catalogs/lake/storage/validate"
	_, env := record(t, map[string]string{asked: `{"ok":false,"steps":[{"name":"put","ok":true,"detail":"It works.","took":"3ms"},` +
		`{"name":"sts","ok":true,"skipped":true,"detail":"There is none.","took":"0s"},{"name":"signing","ok":false,"detail":"It was refused.","took":"1s"}]}`})
	code, out, _ := command(env, "storage", "validate", "lake")
	assert.Equal(t, exitFailed, code)
	assert.Regexp(t, `put +ok +3ms +It works\.`, out)
	assert.Regexp(t, `sts +skipped +0s +There is none\.`, out)
	assert.Regexp(t, `signing +FAILED +1s +It was refused\.`, out)

	_, env = record(t, map[string]string{asked: `{"ok":true,"steps":[]}`})
	code, out, errOut := command(env, "storage", "validate", "lake", "-o", "json")
	assert.Equal(t, exitOK, code, errOut)
	assert.JSONEq(t, `{"ok":true,"steps":[]}`, out)
}
