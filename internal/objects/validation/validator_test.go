package validation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

func TestEveryStepIsTried(t *testing.T) {
	databases(t, func(t *testing.T, url string) {
		home, away := startS3(t), startS3(t)
		p := newInstallation(t, url, home.config(), "s3://lake/wh").process(t)
		p.catalog(t, "main", "s3://lake/wh/main", models.StorageConfig{}, models.StorageSecrets{})
		p.catalog(t, "away", "s3://lake/größe + x", s3At(away.Endpoint()), away.keys())
		for name, at := range map[string]s3{"main": home, "away": away} {
			steps := p.validate(t, name)
			for _, step := range []string{"put", "conditional put", "get", "ranged get", "list", "multipart", "sts", "signing", "delete"} {
				assert.True(t, steps[step].OK, "%s: %s: %s", name, step, steps[step].Detail)
				assert.False(t, steps[step].Skipped, "%s: %s: %s", name, step, steps[step].Detail)
				assert.Regexp(t, `\.$`, steps[step].Detail)
			}
			assert.Len(t, steps, 9)
			left, err := at.direct(t).List(t.Context(), "s3://lake", "", 0)
			require.NoError(t, err)
			assert.Empty(t, left, "nothing is left behind")
		}
	})
}

func newOne(t *testing.T, home s3) *process {
	t.Helper()
	return newInstallation(t, "sqlite://"+t.TempDir()+"/s.db", home.config(), "s3://lake/wh").process(t)
}

func TestWrongKeysAreSaid(t *testing.T) {
	home, away := startS3(t), startS3(t)
	p := newOne(t, home)
	p.catalog(t, "away", "s3://lake/other", s3At(away.Endpoint()), models.StorageSecrets{AccessKey: away.key, SecretKey: "not-the-secret"})
	steps := p.validate(t, "away")
	assert.False(t, steps["put"].OK)
	assert.Contains(t, steps["put"].Detail, "refused Sluice access")
	assert.Contains(t, steps["put"].Detail, "The store says SignatureDoesNotMatch.")
	assert.NotContains(t, steps["put"].Detail, "not-the-secret")
	assert.True(t, steps["get"].Skipped)
	assert.Equal(t, "The object that this step is tried with could not be put.", steps["get"].Detail)

	p.catalog(t, "bucket", "s3://nolake/other", s3At(away.Endpoint()), away.keys())
	assert.Contains(t, p.validate(t, "bucket")["put"].Detail, `Bucket "nolake" does not exist`)
	p.catalog(t, "nowhere", "s3://lake/nowhere", s3At("http://127.0.0.1:1"), away.keys())
	assert.Contains(t, p.validate(t, "nowhere")["put"].Detail, "could not be reached")
}

func TestNoTokenServiceIsSkippedOrSaid(t *testing.T) {
	home, away := startS3(t), startS3(t)
	p := newOne(t, home)
	without := s3At(away.Endpoint())
	without.STSUnavailable = true
	p.catalog(t, "without", "s3://lake/without", without, away.keys())
	steps := p.validate(t, "without")
	assert.True(t, steps["sts"].Skipped)
	assert.Contains(t, steps["sts"].Detail, "stsUnavailable")
	assert.True(t, steps["signing"].OK && !steps["signing"].Skipped)

	elsewhere := s3At(away.Endpoint())
	elsewhere.STSEndpoint = home.Endpoint() // where the keys are unknown
	p.catalog(t, "elsewhere", "s3://lake/elsewhere", elsewhere, away.keys())
	steps = p.validate(t, "elsewhere")
	assert.False(t, steps["sts"].OK)
	assert.Contains(t, steps["sts"].Detail, "The token service refused AssumeRole with")
	assert.True(t, steps["delete"].OK, "the steps after it are tried all the same")
}

func TestUnscopedKeysAreFound(t *testing.T) {
	home, away := startS3(t), startS3(t)
	p := newOne(t, home)
	loose := s3At(away.Endpoint())
	loose.STSEndpoint = away.roles(t) // which heeds no session policy
	p.catalog(t, "loose", "s3://lake/loose", loose, away.keys())
	step := p.validate(t, "loose")["sts"]
	assert.False(t, step.OK)
	assert.Contains(t, step.Detail, "the store does not enforce session policies")
}

func TestALocalFolderSkipsWhatItHasNot(t *testing.T) {
	root := "file://" + t.TempDir()
	in := newInstallation(t, "sqlite://"+t.TempDir()+"/s.db", startS3(t).config(), root)
	p := in.process(t)
	p.catalog(t, "main", root+"/main", models.StorageConfig{}, models.StorageSecrets{})
	steps := p.validate(t, "main")
	for name, step := range steps {
		assert.True(t, step.OK, "%s: %s", name, step.Detail)
		assert.Equal(t, name == "multipart" || name == "sts" || name == "signing", step.Skipped, name)
	}
}
