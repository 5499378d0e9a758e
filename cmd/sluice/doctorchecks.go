package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/temporalx"
)

// Thresholds of doctor.
const (
	leastSpace   = 256 << 20 // bytes below which commits are about to fail
	littleSpace  = 2 << 30
	largestSkew  = 5 * time.Second
	serveMissing = "start `sluice serve`, or name its folder with --data"
)

// embeddedDiagnoses look at serve's data folder, whether serve runs or not.
func (c *cli) embeddedDiagnoses() []diagnosis {
	folder := c.cfg.DataDir
	running := folderInUse(folder)
	url := "sqlite://" + filepath.Join(folder, databaseName)
	store := configuredStore(c.cfg)
	if d, err := existingFolder(folder); err == nil && len(store.roots) == 0 {
		store = localStore(d)
	}
	checks := []diagnosis{{"data folder", func(context.Context) finding { return checkFolder(folder, running) }}}
	if _, err := os.Stat(folder); err == nil {
		checks = append(checks, c.folderDiagnoses(url, store)...)
	}
	if running {
		return append(checks, runningDiagnoses(folder, c.cfg.Temporal.Namespace)...)
	}
	return append(checks, diagnosis{"ports", func(context.Context) finding { return checkPorts(c.cfg) }})
}

// folderDiagnoses look into a data folder that is there.
func (c *cli) folderDiagnoses(url string, files openable) []diagnosis {
	folder := c.cfg.DataDir
	withDatabase := func(check func(context.Context) finding) func(context.Context) finding {
		return func(ctx context.Context) finding {
			if _, err := os.Stat(filepath.Join(folder, databaseName)); errors.Is(err, fs.ErrNotExist) {
				return broken("there is no database in "+folder, serveMissing)
			}
			return check(ctx)
		}
	}
	return []diagnosis{
		{"disk space", func(context.Context) finding { return checkSpace(folder) }},
		{"database", withDatabase(func(ctx context.Context) finding {
			return checkDatabase(ctx, url, "start `sluice serve`, which brings it up to date")
		})},
		{"warehouse", withDatabase(func(ctx context.Context) finding { return checkWarehouses(ctx, files) })},
		{"catalogs", withDatabase(func(ctx context.Context) finding { return checkCatalogs(ctx, c.cfg, url, files.roots) })},
	}
}

// runningDiagnoses ask a running serve by the addresses it wrote.
func runningDiagnoses(folder, namespace string) []diagnosis {
	file, err := readBootstrapFile(folder)
	if err != nil {
		return []diagnosis{{"ready", func(context.Context) finding {
			return broken("serve runs and has not written "+bootstrapName+": it is still starting, or stopping", "wait, or look at its log")
		}}}
	}
	options := temporalx.ClientOptions{Address: file.TemporalAddress, Namespace: namespace}
	return []diagnosis{
		{"ready", func(ctx context.Context) finding {
			return checkReady(ctx, strings.TrimSuffix(file.GovernanceURI, governancePath)+"/readyz")
		}},
		{"temporal", func(ctx context.Context) finding { return checkTemporal(ctx, options) }},
		{"temporal clock", func(ctx context.Context) finding { return checkTemporalClock(ctx, options) }},
	}
}

// externalDiagnoses look at what api and worker use.
func (c *cli) externalDiagnoses() []diagnosis {
	url := c.cfg.Database.URL.Reveal()
	checks := []diagnosis{
		{"database", func(ctx context.Context) finding { return checkDatabase(ctx, url, "run `sluice migrate`") }},
		{"database clock", func(ctx context.Context) finding { return checkDatabaseClock(ctx, url) }},
		{"warehouse", func(ctx context.Context) finding { return checkWarehouses(ctx, configuredStore(c.cfg)) }},
		{"catalogs", func(ctx context.Context) finding { return checkCatalogs(ctx, c.cfg, url, warehouses(c.cfg)) }},
	}
	options, err := externalTemporal(c.cfg.Temporal, c.logger())
	if err != nil {
		return append(checks, diagnosis{"temporal", func(context.Context) finding {
			return broken(sentence(err), "correct the temporal-tls settings")
		}})
	}
	return append(checks,
		diagnosis{"temporal", func(ctx context.Context) finding { return checkTemporal(ctx, options) }},
		diagnosis{"temporal clock", func(ctx context.Context) finding { return checkTemporalClock(ctx, options) }},
	)
}

// folderInUse tells whether a serve holds the folder's lock.
func folderInUse(folder string) bool {
	f, err := os.Open(filepath.Join(folder, lockName)) //nolint:gosec // in the folder the operator named
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK) //nolint:gosec // fits
}

func checkFolder(folder string, running bool) finding {
	info, err := os.Stat(folder)
	if err != nil {
		return broken("there is no folder "+folder, serveMissing)
	}
	if err := (&dataFolder{path: folder}).checkKnownFormat(); err != nil {
		return broken(sentence(err), "use another sluice or another folder")
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return warn(fmt.Sprintf("%s has mode %o: others on this machine may read it", folder, mode), "chmod 700 "+folder)
	}
	if running {
		return well(folder + ", in use by a running serve")
	}
	return well(folder + ", not in use")
}

func checkSpace(folder string) finding {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return broken("there is no folder "+folder, serveMissing)
	}
	free := s.Bavail * uint64(s.Bsize) //nolint:gosec // a block size is positive
	detail := fmt.Sprintf("%d MiB free", free>>20)
	switch {
	case free < leastSpace:
		return broken(detail, "make room: commits fail on a full disk")
	case free < littleSpace:
		return warn(detail, "make room soon")
	}
	return well(detail)
}

func checkDatabase(ctx context.Context, url, remedy string) finding {
	st, err := store.Open(ctx, store.Config{URL: url, MaxConns: 1})
	if err != nil {
		return broken(sentence(err), "check that the database runs, its address and the credentials")
	}
	defer func() { _ = st.Close() }()
	if err := st.Ping(ctx); err != nil {
		return broken(sentence(err), "check that the database runs, its address and the credentials")
	}
	version, _, err := st.SchemaVersion(ctx)
	if err == nil {
		err = st.CheckSchema(ctx)
	}
	if err != nil {
		return broken(sentence(err), remedy)
	}
	return well("reachable, schema " + strconv.FormatInt(version, 10))
}

func checkDatabaseClock(ctx context.Context, url string) finding {
	if !strings.HasPrefix(url, "postgres") {
		return well("the same clock")
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return broken("the database cannot be asked for the time", "see the check of database")
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var there time.Time
	before := time.Now()
	if err := conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&there); err != nil {
		return broken("the database cannot be asked for the time", "look at the database's log")
	}
	return judgeSkew(there.Sub(middle(before, time.Now())), "the database")
}

func middle(a, b time.Time) time.Time { return a.Add(b.Sub(a) / 2) }

func judgeSkew(skew time.Duration, whose string) finding {
	detail := fmt.Sprintf("%s is %s off this machine", whose, skew.Abs().Round(time.Millisecond))
	if skew.Abs() > largestSkew {
		return broken(detail, "synchronise both clocks, by NTP: lifetimes of tokens and workflow timers depend on them")
	}
	return well(detail)
}

// openable is where tables may lie, and how to look.
type openable struct {
	roots   []string
	folders []string // behind the local ones of them
	open    func(ctx context.Context) (*objects.Router, error)
}

func configuredStore(cfg *config.Config) openable {
	o := openable{roots: warehouses(cfg)}
	for _, root := range o.roots {
		if folder, local := strings.CutPrefix(root, "file://"); local {
			o.folders = append(o.folders, folder)
		}
	}
	o.open = func(ctx context.Context) (*objects.Router, error) {
		return objects.Open(ctx, objectsConfig(cfg, o.roots))
	}
	return o
}

func localStore(d *dataFolder) openable {
	return openable{roots: d.localRoots(), folders: []string{d.bucket(), strings.TrimPrefix(d.warehouse(), "file://")}, open: d.openLocal}
}

func checkWarehouses(ctx context.Context, o openable) finding {
	if len(o.roots) == 0 {
		return broken("no warehouse is configured", "set --warehouse or SLUICE_WAREHOUSE")
	}
	for _, folder := range o.folders {
		if _, err := os.Stat(folder); err != nil { // opening it would make it
			return broken("there is no folder "+folder, "bring it back, or correct the warehouse setting; serve, api and worker make an empty one when they start")
		}
	}
	files, err := o.open(ctx)
	if err != nil {
		return broken(sentence(err), "check the warehouse settings and permissions")
	}
	defer func() { _ = files.Close() }()
	for _, root := range o.roots {
		if err := objects.Check(ctx, files, root); err != nil {
			return broken(root+": "+sentence(err), "check that the bucket or folder exists, the s3 settings, and that the keys may put, get, list and delete")
		}
	}
	return well("put, get, list and delete work in " + strings.Join(o.roots, ", "))
}

// checkCatalogs tells whether the tables of each catalog lie where files may be.
func checkCatalogs(ctx context.Context, cfg *config.Config, url string, roots []string) finding {
	st, err := store.Open(ctx, store.Config{URL: url, MaxConns: 1})
	if err != nil {
		return broken("catalogs cannot be looked up", "see the check of database")
	}
	defer func() { _ = st.Close() }()
	strays, err := misplacedCatalogs(ctx, st, roots, cfg.Storage.AllowOther)
	switch {
	case err != nil:
		return broken("catalogs cannot be looked up", "see the check of database")
	case len(strays) > 0:
		return broken(strays[0].detail(roots), strays[0].remedy())
	}
	return well("all lie in the warehouse")
}

func checkReady(ctx context.Context, url string) finding {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return broken(url+" is no address", "restart `sluice serve`, which writes "+bootstrapName+" anew")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return broken("no answer from "+url, "look at the log of `sluice serve`")
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return broken(fmt.Sprintf("%s answers %d", url, resp.StatusCode), "look at the log of `sluice serve`")
	}
	return well(url)
}

func checkTemporal(ctx context.Context, o temporalx.ClientOptions) finding {
	ctx, cancel := context.WithTimeout(ctx, diagnosisTimeout/3)
	defer cancel()
	c, err := temporalx.Dial(ctx, o)
	if err != nil {
		return broken(sentence(err), "check that it runs, temporal-address, and the credentials")
	}
	defer c.Close()
	if _, err := c.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		return broken("Temporal at "+o.Address+" is not healthy", "look at Temporal's log")
	}
	_, err = c.CountWorkflow(ctx, countAll())
	if _, missing := errors.AsType[*serviceerror.NamespaceNotFound](err); missing {
		return broken("Temporal answers at "+o.Address+"; only the namespace "+o.Namespace+" is missing", "start `sluice worker`, which makes it, or correct temporal-namespace")
	}
	if err != nil {
		return broken("the namespace "+o.Namespace+" of Temporal cannot be used", "look at Temporal's log, and check temporal-namespace and the credentials")
	}
	return well(o.Address + ", namespace " + o.Namespace)
}

func checkPorts(cfg *config.Config) finding {
	var taken []string
	for name, address := range map[string]string{
		"listen":        cfg.Listen,
		"temporal-port": net.JoinHostPort(cfg.Temporal.IP, strconv.Itoa(cfg.Temporal.Port)),
		"ui-port":       net.JoinHostPort(cfg.Temporal.IP, strconv.Itoa(cfg.Temporal.UIPort)),
	} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			taken = append(taken, fmt.Sprintf("%s (--%s)", address, name))
			continue
		}
		_ = l.Close()
	}
	if len(taken) > 0 {
		return broken("cannot listen on "+strings.Join(taken, ", "), "stop what has it, or set another port, or 0 for any free one")
	}
	return well("all free")
}
