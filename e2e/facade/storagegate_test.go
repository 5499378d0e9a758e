package facade

import (
	"crypto/md5" //nolint:gosec // what the protocol asks for
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

func md5Of(body []byte) string {
	sum := md5.Sum(body) //nolint:gosec // what the protocol asks for
	return base64.StdEncoding.EncodeToString(sum[:])
}

// classify makes a column of a table restricted.
func (s *storeSite) classify(t *testing.T, name string) {
	t.Helper()
	s.govern(t, "PUT", "/tables/main.db."+name+"/classification", `{"level":"internal","columns":{"email":{"sensitivity":"restricted"}}}`)
}

// TestFilesAreNotColumns: of a table with one column above one's clearance no file is to be had, by no way; what is left
// is named.
func TestFilesAreNotColumns(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	reader := s.person(t, "reader", models.Confidential, models.TableReadData)
	file := inBucket(s.open(t, "t", vended).Metadata.Location) + "/data/f"
	require.Empty(t, put(t.Context(), s.own(t), file))
	status, _ := reader.bySigner(t, "t", "GET", file, nil, nil)
	require.Equal(t, 200, status)
	s.classify(t, "t")
	sign := signBody("GET", s.endpoint+"/lake/"+file, nil, nil)
	refusals := []reply{
		reader.get(t, tablePath("t"), delegationHeader, vended), reader.get(t, tablePath("t"), delegationHeader, signed),
		reader.get(t, tablePath("t")+"/credentials"), reader.post(t, tablePath("t")+"/sign", sign), reader.post(t, tablePath("t")+"/plan", `{}`),
	}
	for _, r := range refusals {
		require.Equal(t, 403, r.StatusCode, "body: %s", r.body)
		for _, part := range []string{"main.db.t", "restricted", "email", "reader", "confidential", "POST /data/v1/tables/main.db.t/query"} {
			require.Contains(t, string(r.body), part)
		}
	}
	var o opening
	reader.want(t, 200, reader.get(t, tablePath("t"))).into(t, &o)
	require.Empty(t, o.Config, "the metadata alone may be had")
	events, err := s.db.AuditEvents(t.Context(), models.AuditFilter{Type: models.AuditRequestDenied, Principal: "reader", Limit: 100})
	require.NoError(t, err)
	require.Len(t, events, len(refusals))
	s.want(t, 200, s.get(t, tablePath("t"), delegationHeader, vended)) // root is cleared
}

// TestWriteOnly: a writer without the clearance puts files and reads metadata, and can read no data, by keys or signatures.
func TestWriteOnly(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	s.classify(t, "t")
	s.policy(t, "t", models.OpenAppend)
	ctx, own := t.Context(), s.own(t)
	writer := s.person(t, "writer", models.Internal, models.TableWriteData)
	o := writer.open(t, "t", vended)
	location := inBucket(o.Metadata.Location)
	require.Empty(t, put(ctx, own, location+"/data/f"))
	require.Empty(t, put(ctx, own, location+"/metadata/m"))

	c := s.client(t, o.Config)
	require.Empty(t, put(ctx, c, location+"/data/new"))
	require.Empty(t, put(ctx, c, location+"/metadata/new"))
	require.Empty(t, get(ctx, c, location+"/metadata/m"))
	for _, key := range []string{"/data/f", "/data/new", "/f", "/metadata-f"} {
		require.Equal(t, "AccessDenied", get(ctx, c, location+key), key)
	}
	require.Equal(t, "AccessDenied", remove(ctx, c, location+"/metadata/m"))
	require.Equal(t, "AccessDenied", list(ctx, c, location+"/data/"))

	for key, want := range map[string]int{"/metadata/m": 200, "/data/f": 0, "/metadata/../data/f": 0} {
		status, _ := writer.bySigner(t, "t", "GET", location+key, nil, nil)
		require.Equal(t, want, status, key)
	}
	status, _ := writer.bySigner(t, "t", "PUT", location+"/data/signed", []byte("x"), nil)
	require.Equal(t, 200, status)
	writer.want(t, 403, writer.post(t, tablePath("t")+"/plan", `{}`))

	// Who may only write cannot make data metadata, and so readable.
	s.policy(t, "t", models.OpenFull)
	set := `{"requirements":[],"updates":[{"action":"set-properties","updates":{"write.metadata.path":"` + o.Metadata.Location + `/data"}}]}`
	writer.want(t, 200, writer.post(t, tablePath("t"), set))
	c = s.client(t, writer.open(t, "t", vended).Config)
	require.Equal(t, "AccessDenied", get(ctx, c, location+"/data/f"))
	s.policy(t, "t", models.GovernedOnly)
	writer.want(t, 403, writer.get(t, tablePath("t"), delegationHeader, vended))
}

// TestRevokingAGrantStopsTheNext signature and the next keys.
func TestRevokingAGrantStopsTheNext(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	file := inBucket(s.open(t, "t", vended).Metadata.Location) + "/data/f"
	writer := s.person(t, "writer", models.Internal, models.TableWriteData, models.TableReadProperties)
	status, _ := writer.bySigner(t, "t", "PUT", file, []byte("x"), nil)
	require.Equal(t, 200, status)
	require.NotEmpty(t, writer.open(t, "t", vended).Credentials)
	s.grant(t, "POST", "writer", models.TableWriteData)
	for _, r := range []reply{
		writer.post(t, tablePath("t")+"/sign", signBody("GET", s.endpoint+"/lake/"+file, nil, nil)),
		writer.get(t, tablePath("t")+"/credentials"),
	} {
		require.Equal(t, 403, r.StatusCode)
		require.Contains(t, string(r.body), "TABLE_READ_DATA or TABLE_WRITE_DATA on table db.t")
	}
	require.Empty(t, writer.open(t, "t", vended).Config, "the metadata may still be had, and nothing else")
}

// TestReadOnlyTokensReadOnly: a token that may not write is given no right to.
func TestReadOnlyTokensReadOnly(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	r, err := s.sendTo(t.Context(), "POST", s.url+governed+"/tokens", `{"principal":"root","catalog":"main","canWrite":false,"expiresIn":3600}`)
	require.NoError(t, err)
	var made struct{ Token string }
	s.want(t, 201, r).into(t, &made)
	reader := s.as(made.Token)
	o := reader.open(t, "t", vended)
	ctx, location := t.Context(), inBucket(o.Metadata.Location)
	require.Equal(t, "AccessDenied", put(ctx, s.client(t, o.Config), location+"/data/f"))
	require.Empty(t, list(ctx, s.client(t, o.Config), location+"/"))
	_, refused := reader.bySigner(t, "t", "PUT", location+"/data/f", []byte("x"), nil)
	require.Equal(t, 403, refused.StatusCode)
}

// TestWhoReachesFilesAndHow is in the records: by keys, by signatures, or by means of its own, once a minute each.
func TestWhoReachesFilesAndHow(t *testing.T) {
	clock := time.Now().UTC()
	s := newStoreSite(t, func(s *setup) { s.core.Now = func() time.Time { return clock } })
	s.create(t, "t")
	writer := s.person(t, "writer", models.Internal, models.TableWriteData)
	nobody := s.person(t, "nobody", models.Internal, models.TableReadProperties)
	file := inBucket(s.open(t, "t", vended).Metadata.Location) + "/data/f"
	for range 3 {
		writer.want(t, 200, writer.get(t, tablePath("t")))
		nobody.want(t, 200, nobody.get(t, tablePath("t")))
		writer.open(t, "t", vended)
		writer.bySigner(t, "t", "PUT", file, []byte("x"), nil)
	}
	clock = clock.Add(time.Minute)
	writer.want(t, 200, writer.get(t, tablePath("t")))
	table, err := s.db.TableByName(t.Context(), s.namespace(t), "t")
	require.NoError(t, err)
	rows, err := s.db.StorageRecords(t.Context(), models.StorageRecordFilter{TableID: table.ID, Limit: 100})
	require.NoError(t, err)
	counts := map[models.DelegationMode]int64{}
	for _, row := range rows {
		if row.Principal == "root" {
			continue
		}
		require.Equal(t, "writer", row.Principal, "who may do nothing with the files reaches none")
		require.NotEmpty(t, row.TokenID)
		counts[row.Mode] = row.Count
	}
	require.Equal(t, map[models.DelegationMode]int64{models.VendedAccess: 1, models.SignedAccess: 1, models.UndelegatedAccess: 2}, counts)
}

// TestACatalogCanRequireDelegation of all but stewards, and says how.
func TestACatalogCanRequireDelegation(t *testing.T) {
	s := newStoreSite(t)
	s.create(t, "t")
	s.property(t, "sluice.require-delegation", "true")
	r := s.want(t, 403, s.get(t, tablePath("t")))
	require.Contains(t, string(r.body), "X-Iceberg-Access-Delegation: vended-credentials")
	s.want(t, 403, s.get(t, tablePath("t"), delegationHeader, ""))
	s.want(t, 200, s.get(t, tablePath("t"), delegationHeader, vended))
	s.want(t, 200, s.get(t, tablePath("t"), delegationHeader, signed))
	s.want(t, 200, s.post(t, "/namespaces/db/tables", createBody("u")))
	s.want(t, 204, s.do(t, "HEAD", tablePath("t"), ""))
	steward := s.person(t, "steward", models.Internal, models.TableGovern, models.TableReadProperties)
	steward.want(t, 200, steward.get(t, tablePath("t")))
}

// TestALocalWarehouseGivesNothing: no property of a store is there that engines could take for keys.
func TestALocalWarehouseGivesNothing(t *testing.T) {
	s := newSite(t)
	s.create(t, "t")
	for _, way := range []string{vended, signed, ""} {
		var v struct{ Config json.RawMessage }
		s.want(t, 200, s.get(t, tablePath("t"), delegationHeader, way)).into(t, &v)
		require.JSONEq(t, `{}`, string(v.Config))
	}
}
