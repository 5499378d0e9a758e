package access_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func TestDenialsAreRecorded(t *testing.T) {
	d := newDesk(t)
	denials := access.NewDenials(d.store, d.clock)
	caller := policy.Caller{Principal: "job", TokenID: "t-1", Origin: policy.Origin{RequestID: "r-1", Address: "192.0.2.7", Client: "spark"}}
	for range 2 {
		must(t, denials.RecordDenial(context.Background(), caller, access.Denial{
			Method: "DELETE", Route: "/v1/:prefix/namespaces/:ns/tables/:t", Path: "/v1/main/namespaces/sales/tables/orders?token=SECRET", Status: 403,
			Reason: "Dropping it needs TABLE_DROP.", Catalog: "main", Namespace: "sales", Table: "sales.orders",
		}))
	}
	events := d.events(t, models.AuditRequestDenied)
	if len(events) != 2 {
		t.Fatalf("two refusals made %d events", len(events))
	}
	e := events[0]
	if e.Allowed || e.Principal != "job" || e.TokenID != "t-1" || e.RequestID != "r-1" || e.Address != "192.0.2.7" ||
		e.Catalog != "main" || e.Namespace != "sales" || e.Table != "sales.orders" || e.Reason != "Dropping it needs TABLE_DROP." {
		t.Errorf("the event is %+v", e)
	}
	for name, want := range map[string]any{
		"method": "DELETE", "route": "/v1/:prefix/namespaces/:ns/tables/:t", "path": "/v1/main/namespaces/sales/tables/orders",
		"status": float64(403), "client": "spark",
	} {
		if got := e.Details.V[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func TestLongPathsAreCut(t *testing.T) {
	d := newDesk(t)
	denials := access.NewDenials(d.store, d.clock)
	for _, path := range []string{"/" + strings.Repeat("x", 1<<20), "/" + strings.Repeat("ü", 1<<10), "/\xff\xfe"} {
		must(t, denials.RecordDenial(context.Background(), policy.Caller{}, access.Denial{Path: path, Status: 404}))
	}
	for _, e := range d.events(t, models.AuditRequestDenied) {
		if path := e.Details.V["path"].(string); len(path) > 1030 || !strings.HasPrefix(path, "/") {
			t.Errorf("a path of %d bytes was kept", len(path))
		}
	}
}

// What stands in the place of a name may be anything, and is kept for ever.
func TestLongNamesAreCut(t *testing.T) {
	d := newDesk(t)
	denials := access.NewDenials(d.store, d.clock)
	long := strings.Repeat("ü", 50_000)
	refused := access.Denial{Status: 404, Catalog: long, Namespace: long, Table: long + "." + long}
	must(t, denials.RecordDenial(context.Background(), policy.Caller{}, refused))
	must(t, denials.RecordFailure(context.Background(), policy.Caller{}, access.Failure{Denial: refused}))
	for _, typ := range []models.AuditType{models.AuditRequestDenied, models.AuditRequestFailed} {
		e := d.events(t, typ)[0]
		for _, name := range []string{e.Catalog, e.Namespace, e.Table} {
			if len(name) > 4200 || !strings.HasPrefix(name, "ü") || !strings.HasSuffix(name, "ü…") {
				t.Errorf("a name of %d bytes was kept", len(name))
			}
		}
	}
}

// Who is not let in is recorded once a minute, and cannot keep others out of the audit.
func TestUnauthenticatedRequestsAreBounded(t *testing.T) {
	d := newDesk(t)
	denials := access.NewDenials(d.store, d.clock)
	try := func(caller policy.Caller) {
		must(t, denials.RecordDenial(context.Background(), caller, access.Denial{Status: 401, Reason: "The token has expired."}))
	}
	expired := policy.Caller{Principal: "job", TokenID: "t-1", Origin: policy.Origin{Address: "192.0.2.7"}}
	count := func(principal string) (n int) {
		for _, e := range d.events(t, models.AuditRequestDenied) {
			if e.Principal == principal {
				n++
			}
		}
		return n
	}
	for i := range 500 {
		try(policy.Caller{Origin: policy.Origin{Address: fmt.Sprint("198.51.100.", i)}})
	}
	for range 50 {
		try(expired)
	}
	if count("") != 60 || count("job") != 1 {
		t.Fatalf("%d of strangers and %d of the job, want 60 and 1", count(""), count("job"))
	}
	expired.Origin.Address = "192.0.2.8"
	try(expired)
	d.now = d.now.Add(time.Minute)
	try(expired)
	if count("job") != 3 {
		t.Errorf("%d of the job, want 3: from another address, and a minute later", count("job"))
	}
}

// A principal that asks for roles it does not have is recorded, a junk token too, and neither with the token.
func TestRefusedTokenRequestsAreRecorded(t *testing.T) {
	d := newDesk(t)
	p := d.newPrincipal(t, "job")
	if _, err := d.ask(p.creds, "PRINCIPAL_ROLE:service_admin"); err == nil {
		t.Fatal("it was given")
	}
	if _, err := d.exchanged("e30.e30.c2lnbmF0dXJl", ""); err == nil {
		t.Fatal("it was exchanged")
	}
	bearer := d.bearer(t, p.creds, "")
	d.now = d.now.Add(2 * time.Hour)
	if _, err := d.exchanged(bearer, ""); err == nil {
		t.Fatal("an expired token was exchanged")
	}
	events := d.events(t, models.AuditRequestDenied)
	if len(events) != 3 {
		t.Fatalf("%d events", len(events))
	}
	named := map[string]int{}
	for _, e := range events {
		named[e.Principal]++
		if text := fmt.Sprint(e); strings.Contains(text, bearer) || strings.Contains(text, p.creds.ClientSecret) || e.Reason == "" {
			t.Errorf("the event is %s", text)
		}
	}
	if named["job"] != 2 || named[""] != 1 {
		t.Errorf("they are of %v", named)
	}
}
