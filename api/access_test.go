package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/models"
)

func TestExplain(t *testing.T) {
	s := newSite(t)
	s.admin.explanation = management.Explanation{
		Allowed: true, Object: "main.events.clicks", Scope: models.OnTable,
		Ways: []management.Way{
			{
				PrincipalRole: "writers", CatalogRole: "ingest", On: "main.events", Implies: true,
				Grant: management.GrantInput{Scope: models.OnNamespace, Namespace: []string{"events"}, Privilege: models.TableWriteData},
			},
			{PrincipalRole: "service_admin"},
		},
	}
	r := s.do("GET", governancePath+"/access?principal=etl&privilege=TABLE_READ_DATA&object=main.events.clicks", "")
	require.Equal(t, 200, r.StatusCode)
	require.JSONEq(t, `{"allowed":true,"object":"main.events.clicks","scope":"table","roles":[],"catalogRoles":[],"ways":[
		{"principalRole":"writers","catalogRole":"ingest","on":"main.events","implies":true,
		 "grant":{"type":"namespace","namespace":["events"],"privilege":"TABLE_WRITE_DATA"}},
		{"principalRole":"service_admin","on":"","implies":false}]}`, string(r.body))
	require.Equal(t, management.Question{Principal: "etl", Privilege: models.TableReadData, Object: "main.events.clicks"}, s.admin.question)

	s.admin.explanation = management.Explanation{Object: "main", Scope: models.OnCatalog, Roles: []string{"writers"}, CatalogRoles: []string{"ingest"}, Advice: "Grant it."}
	r = s.do("GET", governancePath+"/access?privilege=TABLE_DROP&object=main", "")
	require.JSONEq(t, `{"allowed":false,"object":"main","scope":"catalog","roles":["writers"],"catalogRoles":["ingest"],"ways":[],"advice":"Grant it."}`, string(r.body))
	require.Equal(t, "etl", s.admin.question.Principal, "oneself by default")

	for _, query := range []string{"", "?principal=etl", "?privilege=", "?privilege=TABLE_DROP&table=main.a.t"} {
		require.Equal(t, 400, s.do("GET", governancePath+"/access"+query, "").StatusCode, query)
	}
}
