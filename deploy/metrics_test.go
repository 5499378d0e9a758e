package deploy

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/sluice-data/sluice/internal/telemetry"
	"github.com/sluice-data/sluice/models"
)

// alert is a rule as Prometheus reads it.
type alert struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func loadAlerts(t *testing.T) []alert {
	t.Helper()
	file, err := os.Open("prometheus/alerts.yaml")
	require.NoError(t, err)
	defer file.Close()
	var rules struct {
		Groups []struct {
			Name  string  `yaml:"name"`
			Rules []alert `yaml:"rules"`
		} `yaml:"groups"`
	}
	d := yaml.NewDecoder(file)
	d.KnownFields(true)
	require.NoError(t, d.Decode(&rules))
	var all []alert
	for _, g := range rules.Groups {
		assert.NotEmpty(t, g.Name)
		assert.NotEmpty(t, g.Rules, g.Name)
		all = append(all, g.Rules...)
	}
	require.NotEmpty(t, all)
	return all
}

// panel is what of a dashboard's panel is checked.
type panel struct {
	ID      int    `json:"id"`
	Type    string `json:"type"`
	Title   string `json:"title"`
	GridPos struct{ H, W, X, Y int }
	Targets []struct {
		Expr       string            `json:"expr"`
		Datasource map[string]string `json:"datasource"`
	} `json:"targets"`
}

func loadDashboard(t *testing.T) []panel {
	t.Helper()
	text, err := os.ReadFile("grafana/sluice.json")
	require.NoError(t, err)
	var dashboard struct {
		UID    string  `json:"uid"`
		Title  string  `json:"title"`
		Panels []panel `json:"panels"`
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	assert.Equal(t, []string{"sluice", "Sluice"}, []string{dashboard.UID, dashboard.Title})
	return dashboard.Panels
}

// exposed gives the names of the metrics that the program registers: those of the registry that every process has, and those
// in its source.
func exposed(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	families, err := telemetry.NewRegistry(telemetry.Build{}).Gather()
	require.NoError(t, err)
	for _, f := range families {
		names[f.GetName()] = true
	}
	literal := regexp.MustCompile(`"(sluice_[a-z_]+)"`)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "pgtest") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range literal.FindAllStringSubmatch(string(source), -1) {
			names[m[1]] = true
		}
		return err
	}))
	return names
}

var metricName = regexp.MustCompile(`\b(sluice|process|go)_[a-z_]+`)

// assertExposed checks that an expression asks for metrics that there are, and is closed where it is opened.
func assertExposed(t *testing.T, names map[string]bool, expr, where string) {
	t.Helper()
	found := metricName.FindAllString(expr, -1)
	assert.NotEmpty(t, found, "%s asks for no metric: %s", where, expr)
	for _, name := range found {
		series := name
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			if base, ok := strings.CutSuffix(name, suffix); ok {
				series = base
			}
		}
		assert.True(t, names[name] || names[series], "%s asks for %s, which /metrics does not have", where, name)
	}
	for _, pair := range []string{"()", "{}", "[]"} {
		assert.Equal(t, strings.Count(expr, pair[:1]), strings.Count(expr, pair[1:]), "%s: %s", where, expr)
	}
	assert.Zero(t, strings.Count(expr, `"`)%2, "%s: %s", where, expr)
}

func TestAlertsAskForMetricsThatThereAre(t *testing.T) {
	t.Parallel()
	names, seen := exposed(t), map[string]bool{}
	for _, a := range loadAlerts(t) {
		assert.Regexp(t, `^Sluice[A-Z][A-Za-z]+$`, a.Alert)
		assert.False(t, seen[a.Alert], a.Alert)
		seen[a.Alert] = true
		assertExposed(t, names, a.Expr, a.Alert)
		assert.Regexp(t, `^\d+[mh]$`, a.For, a.Alert)
		assert.Contains(t, []string{"critical", "warning"}, a.Labels["severity"], a.Alert)
		for _, annotation := range []string{"summary", "description", "runbook_url"} {
			assert.NotEmpty(t, a.Annotations[annotation], "%s has no %s", a.Alert, annotation)
		}
	}
}

// kindsIn gives the kinds of findings that an expression selects.
func kindsIn(expr string) []string {
	m := regexp.MustCompile(`sluice_findings_open\{kind=~"([^"]+)"\}`).FindStringSubmatch(expr)
	if m == nil {
		return nil
	}
	return strings.Split(m[1], "|")
}

// Every kind of finding that is not merely worth tidying up has its alert, by its severity.
func TestAlertsKnowEveryKindOfFinding(t *testing.T) {
	t.Parallel()
	want := map[models.Severity][]string{}
	for _, k := range models.FindingKinds() {
		want[k.Severity()] = append(want[k.Severity()], string(k))
	}
	got := map[string][]string{}
	for _, a := range loadAlerts(t) {
		if kinds := kindsIn(a.Expr); kinds != nil {
			got[a.Alert] = kinds
		}
	}
	assert.ElementsMatch(t, want[models.High], got["SluiceFindingHigh"])
	assert.ElementsMatch(t, want[models.Medium], got["SluiceFindingMedium"])
}

// Who follows an alert to its runbook arrives somewhere.
func TestRunbooksAreThere(t *testing.T) {
	t.Parallel()
	for _, a := range loadAlerts(t) {
		links := []string{a.Annotations["runbook_url"]}
		if strings.Contains(links[0], "{{ $labels.kind }}") {
			kinds := kindsIn(a.Expr)
			require.NotEmpty(t, kinds, a.Alert)
			link := links[0]
			links = nil
			for _, kind := range kinds {
				links = append(links, strings.ReplaceAll(link, "{{ $labels.kind }}", kind))
			}
		}
		for _, link := range links {
			page, ok := strings.CutPrefix(link, "https://github.com/sluice-data/sluice/blob/main/")
			require.True(t, ok, "%s: %s", a.Alert, link)
			page, anchor, _ := strings.Cut(page, "#")
			text, err := os.ReadFile(filepath.Join(root, page))
			require.NoError(t, err, a.Alert)
			if anchor != "" {
				assert.True(t, hasHeading(string(text), anchor), "%s: %s has no heading for #%s", a.Alert, page, anchor)
			}
		}
	}
}

func hasHeading(page, anchor string) bool {
	for line := range strings.SplitSeq(page, "\n") {
		heading := strings.TrimLeft(line, "#")
		if heading == line {
			continue
		}
		if strings.ReplaceAll(strings.ToLower(strings.TrimSpace(heading)), " ", "-") == anchor {
			return true
		}
	}
	return false
}

func TestTheDashboardAsksForMetricsThatThereAre(t *testing.T) {
	t.Parallel()
	names := exposed(t)
	ids, asked := map[int]bool{}, map[string]bool{}
	right := map[int]int{} // where the panels of a line end
	for _, p := range loadDashboard(t) {
		assert.False(t, ids[p.ID], "two panels have the id %d", p.ID)
		ids[p.ID] = true
		assert.NotEmpty(t, p.Title)
		assert.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		assert.GreaterOrEqual(t, p.GridPos.X, right[p.GridPos.Y], "%s lies over another panel", p.Title)
		right[p.GridPos.Y] = p.GridPos.X + p.GridPos.W
		assert.Equal(t, p.Type == "row", len(p.Targets) == 0, p.Title)
		for _, target := range p.Targets {
			assertExposed(t, names, target.Expr, p.Title)
			assert.Equal(t, "${datasource}", target.Datasource["uid"], p.Title)
			for _, name := range metricName.FindAllString(target.Expr, -1) {
				asked[name] = true
			}
		}
	}
	for _, name := range []string{
		"sluice_http_request_duration_seconds_bucket", "sluice_outbox_events", "sluice_outbox_oldest_seconds", "sluice_findings_open",
		"sluice_writer_seconds_since_last_commit", "sluice_webhook_attempts_total", "sluice_audit_unsealed_events",
	} {
		assert.True(t, asked[name], "the dashboard does not show %s: %v", name, slices.Sorted(maps.Keys(asked)))
	}
}
