package vending

import (
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/versity/versitygw/iamapi/policy"
	"github.com/versity/versitygw/iamapi/types"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects/signing"
	"github.com/sluice-data/sluice/models"
)

// TestPoliciesAndSignaturesAgree compares what a policy allows, as an evaluator of IAM policies reads it, with what is
// signed for the same access: on objects they are the same, and what may be listed by keys may be listed by signatures.
func TestPoliciesAndSignaturesAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	path := func(most int) string {
		parts := make([]string, 1+r.IntN(most))
		for i := range parts {
			parts[i] = pick("a", "ab", "b")
		}
		return strings.Join(parts, "/")
	}
	compared := 0
	for range 1500 {
		access := models.StorageAccess{Table: "t", Rights: []models.StorageRights{reader(), writeOnly(), appender(), full()}[r.IntN(4)]}
		roots := map[string]bool{}
		for range 1 + r.IntN(3) {
			bucket, key := pick("lake", "hot"), path(3)
			roots[bucket+"/"+key] = true
			access.Areas = append(access.Areas, models.StorageArea{Prefix: "s3://" + bucket + "/" + key, Metadata: r.IntN(2) == 0})
		}
		document, err := SessionPolicy(models.StorageConfig{}, access)
		if fault.Is(err, fault.Unprocessable) {
			continue
		}
		require.NoError(t, err)
		for range 5 {
			bucket, key := pick("lake", "hot"), path(4)
			if !roots[bucket+"/"+key] { // a folder is no object, and signing says so
				compared++
				for method, action := range map[string]string{"GET": "s3:GetObject", "PUT": "s3:PutObject", "DELETE": "s3:DeleteObject"} {
					require.Equal(t, allows(document, action, bucket+"/"+key, ""), signs(access, method, "/"+bucket+"/"+key),
						"%s of %s/%s by %+v: %s", method, bucket, key, access, document)
				}
			}
			prefix := key + pick("", "/")
			if allows(document, "s3:ListBucket", bucket, prefix) {
				require.True(t, signs(access, "GET", "/"+bucket+"?prefix="+url.QueryEscape(prefix)), "%s/%s by %+v: %s", bucket, prefix, access, document)
			}
		}
	}
	require.Greater(t, compared, 4_000)
}

func allows(document, action, resource, prefix string) bool {
	context := map[string][]string{}
	if prefix != "" {
		context["s3:prefix"] = []string{prefix}
	}
	return policy.EvaluateIdentityPolicies([]types.PolicyEntry{{PolicyName: "session", PolicyDocument: document}},
		policy.RequestContext{Action: action, Resource: "arn:aws:s3:::" + resource, Condition: context}) == policy.DecisionAllow
}

func signs(access models.StorageAccess, method, path string) bool {
	p := signing.Profile{
		Config:  models.StorageConfig{Type: models.S3Storage, Endpoint: "http://store.example", PathStyleAccess: true},
		Secrets: models.StorageSecrets{AccessKey: "AK", SecretKey: "secret"},
	}
	_, err := signing.New(time.Now).Sign(p, access, signing.Request{Method: method, URI: "http://store.example" + path})
	return err == nil
}
