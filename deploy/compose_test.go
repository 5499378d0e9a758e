package deploy

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/config"
)

const root = ".."

func loadProject(t *testing.T, env map[string]string) *types.Project {
	t.Helper()
	dir, err := filepath.Abs(root)
	require.NoError(t, err)
	project, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir:  dir,
		ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(dir, "docker-compose.yml")}},
		Environment: env,
	}, func(o *loader.Options) { o.SetProjectName("sluice", true) })
	require.NoError(t, err)
	return project
}

// oneShots end by themselves; every other service runs on.
func oneShots() []string { return []string{"temporal-schema", "migrate", "root"} }

func TestComposeHasEveryPart(t *testing.T) {
	t.Parallel()
	project := loadProject(t, nil)
	assert.ElementsMatch(t,
		[]string{"postgres", "temporal-schema", "temporal", "temporal-ui", "s3", "migrate", "root", "api", "worker"},
		project.ServiceNames())
	for name, service := range project.Services {
		assert.True(t, service.Image != "" || service.Build != nil, "%s has neither image nor build", name)
		if service.Build == nil {
			assert.Contains(t, service.Image, ":", "%s: the image has no version", name)
			assert.NotContains(t, service.Image, ":latest", name)
		}
		assert.NotContains(t, service.Image, "minio", "%s: MinIO's server is AGPL", name)
		assert.False(t, service.Privileged, name)
		assert.Empty(t, service.CapAdd, name)
		assert.NotEqual(t, "host", service.NetworkMode, name)
	}
}

func TestComposeWaitsForWhatItNeeds(t *testing.T) {
	t.Parallel()
	project := loadProject(t, nil)
	for name, service := range project.Services {
		once := slices.Contains(oneShots(), name)
		if !once {
			require.NotNil(t, service.HealthCheck, "%s runs on and has no health check", name)
			assert.NotEmpty(t, service.HealthCheck.Test, name)
			assert.Equal(t, types.RestartPolicyUnlessStopped, service.Restart, name)
		}
		for needed, dependency := range service.DependsOn {
			want := types.ServiceConditionHealthy
			if slices.Contains(oneShots(), needed) {
				want = types.ServiceConditionCompletedSuccessfully
			}
			assert.Equal(t, want, dependency.Condition, "%s waits for %s", name, needed)
		}
	}
	for _, server := range []string{"api", "worker"} {
		for _, needed := range []string{"root", "temporal", "s3"} {
			assert.Contains(t, project.Services[server].DependsOn, needed, server)
		}
	}
}

func TestComposeSetsSettingsThatExist(t *testing.T) {
	t.Parallel()
	project := loadProject(t, nil)
	known := map[string]config.Setting{}
	cfg := config.Default()
	for _, s := range cfg.Settings() {
		known[s.Env()] = s
	}
	for _, name := range []string{"migrate", "root", "api", "worker"} {
		for variable, value := range project.Services[name].Environment {
			setting, ok := known[variable]
			require.True(t, ok, "%s sets %s, which is no setting", name, variable)
			require.NotNil(t, value, "%s does not give %s a value", name, variable)
			assert.NoError(t, setting.Value.Set(*value), "%s sets %s", name, variable)
		}
		assert.NoError(t, cfg.Verify(), name)
	}
}

func TestComposeListensForThisMachineAlone(t *testing.T) {
	t.Parallel()
	for name, service := range loadProject(t, nil).Services {
		for _, port := range service.Ports {
			assert.Equal(t, "127.0.0.1", port.HostIP, "%s publishes %s", name, port.Published)
		}
	}
}

func TestComposeTakesPasswordsFromTheEnvironment(t *testing.T) {
	t.Parallel()
	project := loadProject(t, map[string]string{"POSTGRES_PASSWORD": "pg-secret", "S3_SECRET_KEY": "s3-secret"})
	value := func(service, variable string) string {
		v := project.Services[service].Environment[variable]
		require.NotNil(t, v, "%s %s", service, variable)
		return *v
	}
	assert.Equal(t, "pg-secret", value("postgres", "POSTGRES_PASSWORD"))
	assert.Equal(t, "pg-secret", value("temporal-schema", "SQL_PASSWORD"))
	assert.Equal(t, "pg-secret", value("temporal", "POSTGRES_PWD"))
	assert.Equal(t, "s3-secret", value("s3", "AWS_SECRET_ACCESS_KEY"))
	assert.Equal(t, "s3-secret", value("worker", "SLUICE_S3_SECRET_KEY"))
	assert.Contains(t, value("api", "SLUICE_DATABASE_URL"), ":pg-secret@")
}

func TestComposeMountsFilesThatExist(t *testing.T) {
	t.Parallel()
	for name, service := range loadProject(t, nil).Services {
		for _, volume := range service.Volumes {
			if volume.Type == types.VolumeTypeBind {
				assert.FileExists(t, volume.Source, name)
				assert.True(t, volume.ReadOnly, "%s may write %s", name, volume.Source)
			}
		}
	}
}

func TestDockerfileRunsAsNobodySpecial(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	require.NoError(t, err)
	var from, user []string
	for line := range strings.Lines(string(data)) {
		switch fields := strings.Fields(line); {
		case len(fields) > 1 && fields[0] == "FROM":
			from = append(from, fields[1])
		case len(fields) > 1 && fields[0] == "USER":
			user = append(user, fields[1])
		}
	}
	require.Len(t, from, 2, "one stage builds, one runs")
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	for line := range strings.Lines(string(module)) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "go "); ok {
			assert.True(t, strings.HasPrefix(from[0], "golang:"+version), "the image builds with %s, go.mod says %s", from[0], version)
		}
	}
	require.NotEmpty(t, user)
	assert.NotContains(t, []string{"root", "0", "0:0"}, user[len(user)-1])
}
