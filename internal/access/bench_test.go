package access_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

const (
	crowdPrincipals = 1_000
	crowdGrants     = 100 // of each
)

// crowd is a desk with 1,000 principals, each with a token, a role, and 100 grants on as many namespaces.
func crowd(b *testing.B, url string) (*desk, []string) {
	b.Helper()
	d := newDeskAt(b, url)
	bearers := make([]string, crowdPrincipals)
	at := d.now.UTC().Format("2006-01-02 15:04:05+00:00")
	insert(b, d, "namespaces (id, catalog_id, name_key, parent_key, properties, version, created_at, updated_at)", crowdPrincipals, func(i int) string {
		return fmt.Sprintf("('n%d', '%s', 'n%d', '', '{}', 1, '%s', '%s')", i, d.catalog.ID, i, at, at)
	})
	no := "false"
	if !strings.Contains(url, "://") {
		no = "0"
	}
	insert(b, d, "principals (id, name, client_id, secret_hash, disabled, properties, version, created_at, updated_at)", crowdPrincipals, func(i int) string {
		return fmt.Sprintf("('p%d', 'p%d', '', '', %s, '{}', 1, '%s', '%s')", i, i, no, at, at)
	})
	insert(b, d, "principal_roles (id, name, properties, version, created_at, updated_at)", crowdPrincipals, func(i int) string {
		return fmt.Sprintf("('r%d', 'r%d', '{}', 1, '%s', '%s')", i, i, at, at)
	})
	insert(b, d, "catalog_roles (id, catalog_id, name, properties, version, created_at, updated_at)", crowdPrincipals, func(i int) string {
		return fmt.Sprintf("('c%d', '%s', 'c%d', '{}', 1, '%s', '%s')", i, d.catalog.ID, i, at, at)
	})
	insert(b, d, "principal_role_members (principal_id, principal_role_id)", crowdPrincipals, func(i int) string { return fmt.Sprintf("('p%d', 'r%d')", i, i) })
	insert(b, d, "catalog_role_members (principal_role_id, catalog_role_id)", crowdPrincipals, func(i int) string { return fmt.Sprintf("('r%d', 'c%d')", i, i) })
	insert(b, d, "grants (id, catalog_role_id, catalog_id, scope, object_id, privilege, created_at)", crowdPrincipals*crowdGrants, func(i int) string {
		role, n := i/crowdGrants, i%crowdGrants
		return fmt.Sprintf("('g%d', 'c%d', '%s', 'namespace', 'n%d', 'TABLE_WRITE_DATA', '%s')", i, role, d.catalog.ID, (role+n)%crowdPrincipals, at)
	})
	for i := range bearers {
		bearers[i] = fmt.Sprintf("slc_bearer-%d", i)
		must(b, d.store.CreateToken(context.Background(), models.Token{
			ID: fmt.Sprint("t", i), Kind: models.EngineToken, Hash: access.HashSecret(bearers[i]), PrincipalID: fmt.Sprint("p", i),
			CanWrite: true, CreatedAt: d.now,
		}, anEvent(models.AuditTokenMinted)))
	}
	must(b, d.exec("ANALYZE"))
	return d, bearers
}

func insert(b *testing.B, d *desk, into string, rows int, row func(int) string) {
	b.Helper()
	const batch = 5_000
	for from := 0; from < rows; from += batch {
		var values []string
		for i := from; i < min(from+batch, rows); i++ {
			values = append(values, row(i))
		}
		must(b, d.exec("INSERT INTO "+into+" VALUES "+strings.Join(values, ",")))
	}
}

// ask lets a principal in and checks three rights: one on a namespace that it has, one on one that it has not, and one
// that it has nowhere.
func ask(b *testing.B, d *desk, bearers []string, i int) {
	role := i % crowdPrincipals
	caller, err := d.auth.Authenticate(context.Background(), bearers[role])
	if err != nil {
		b.Fatal(err)
	}
	own, other := fmt.Sprint("n", role), fmt.Sprint("n", (role+crowdGrants)%crowdPrincipals)
	at := policy.Path{CatalogID: d.catalog.ID, NamespaceIDs: []string{own}, TableID: "t"}
	elsewhere := policy.Path{CatalogID: d.catalog.ID, NamespaceIDs: []string{other}, TableID: "t"}
	if !caller.Has(models.TableWriteData, at) || caller.Has(models.TableWriteData, elsewhere) || caller.Has(models.TableDrop, at) {
		b.Fatal("the answer is wrong")
	}
}

// BenchmarkAuthenticate is what a request pays to be let in and judged.
func BenchmarkAuthenticate(b *testing.B) {
	for database, url := range databases() {
		b.Run(database, func(b *testing.B) {
			d, bearers := crowd(b, url(b))
			for i := range bearers {
				ask(b, d, bearers, i)
			}
			b.Run("version alone", func(b *testing.B) {
				for b.Loop() {
					if _, err := d.store.AccessVersion(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("from memory", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					ask(b, d, bearers, i)
				}
			})
			b.Run("from memory, at once", func(b *testing.B) {
				var i atomic.Int64
				b.SetParallelism(16)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						ask(b, d, bearers, int(i.Add(1)))
					}
				})
			})
			jwt := d.bearer(b, d.creds, "")
			b.Run("a signed token", func(b *testing.B) {
				for b.Loop() {
					d.caller(b, jwt)
				}
			})
			b.Run("after a change", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					b.StopTimer()
					must(b, d.exec("UPDATE principals SET updated_at = updated_at WHERE id = 'p0'"))
					b.StartTimer()
					ask(b, d, bearers, i)
				}
			})
			b.Run("issuing a token", func(b *testing.B) {
				for b.Loop() {
					d.bearer(b, d.creds, "")
				}
			})
		})
	}
}

// BenchmarkRevocation tells how long after a role was taken a process that is under load still lets its holder do what
// the role allowed: the time from the end of the change to the first refusal.
func BenchmarkRevocation(b *testing.B) {
	d := newDesk(b)
	role := d.newRole(b, "writers", models.TableWriteData)
	p := d.newPrincipal(b, "job", role)
	bearer := d.bearer(b, p.creds, "")
	other := d.another(b)
	var wrong int
	var longest time.Duration
	for b.Loop() {
		d.assign(b, p.Principal, role)
		if !d.holds(other.caller(b, bearer), models.TableWriteData) {
			b.Fatal("what was given does not count")
		}
		_, err := d.store.RevokePrincipalRole(context.Background(), memberOf(p.Principal, role), anEvent(models.AuditPrincipalRoleRevoked))
		must(b, err)
		start := time.Now()
		if d.holds(other.caller(b, bearer), models.TableWriteData) {
			wrong++
		}
		longest = max(longest, time.Since(start))
	}
	b.ReportMetric(float64(wrong), "outlived")
	b.ReportMetric(float64(longest.Microseconds()), "µs-longest")
}
