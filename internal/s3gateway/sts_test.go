package s3gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAssumeRoleRefuses(t *testing.T) {
	e := start(t)
	good := credentials.STSAssumeRoleOptions{
		AccessKey: rootKey, SecretKey: rootSecret, Policy: tablePolicy("t1"), Location: e.Region(), DurationSeconds: 900,
		RoleARN: "arn:aws:iam::000000000000:role/sluice", RoleSessionName: "job-1",
	}
	_, err := e.tryAssumeWith(good)
	require.NoError(t, err)
	session := e.assume(t, document(statement{Effect: "Allow", Action: []string{"*"}, Resource: []string{"*"}}), time.Hour)
	for name, change := range map[string]func(*credentials.STSAssumeRoleOptions){
		"no policy":       func(o *credentials.STSAssumeRoleOptions) { o.Policy = "" },
		"no JSON":         func(o *credentials.STSAssumeRoleOptions) { o.Policy = "{" },
		"an empty policy": func(o *credentials.STSAssumeRoleOptions) { o.Policy = `{"Version":"2012-10-17","Statement":[]}` },
		"no resource": func(o *credentials.STSAssumeRoleOptions) {
			o.Policy = `{"Statement":[{"Effect":"Allow","Action":"s3:*"}]}`
		},
		"an unknown condition": func(o *credentials.STSAssumeRoleOptions) {
			o.Policy = `{"Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*","Condition":{"StringAlike":{"s3:prefix":"x"}}}]}`
		},
		"a policy of 2049 bytes": func(o *credentials.STSAssumeRoleOptions) { o.Policy = padded(2049) },
		"too short":              func(o *credentials.STSAssumeRoleOptions) { o.DurationSeconds = 59 },
		"too long":               func(o *credentials.STSAssumeRoleOptions) { o.DurationSeconds = 12*3600 + 1 },
		"a wrong secret":         func(o *credentials.STSAssumeRoleOptions) { o.SecretKey = "x" },
		"an unknown key":         func(o *credentials.STSAssumeRoleOptions) { o.AccessKey = "nobody" },
		"temporary credentials": func(o *credentials.STSAssumeRoleOptions) {
			o.AccessKey, o.SecretKey, o.SessionToken = session.AccessKeyID, session.SecretAccessKey, session.SessionToken
		},
		"what is no ARN":             func(o *credentials.STSAssumeRoleOptions) { o.RoleARN = "sluice" },
		"a session name with spaces": func(o *credentials.STSAssumeRoleOptions) { o.RoleSessionName = "job 1" },
	} {
		o := good
		change(&o)
		// minio-go asks for an hour when it is given less: such a form is sent by hand.
		if o.DurationSeconds == 59 || o.DurationSeconds > 12*3600 {
			status, body := e.form(t, url.Values{"Action": {"AssumeRole"}, "Version": {stsVersion}, "Policy": {o.Policy}, "DurationSeconds": {key("%d", o.DurationSeconds)}})
			assert.Equal(t, http.StatusBadRequest, status, body)
			continue
		}
		v, err := e.tryAssumeWith(o)
		assert.Error(t, err, name)
		assert.Empty(t, v.SessionToken, name)
	}
	o := good
	o.Policy = padded(2048)
	v, err := e.tryAssumeWith(o)
	require.NoError(t, err, "a policy of 2048 bytes")
	put(t, e.client(t, v), "any", "x")
	link, err := e.client(t, v).PresignedGetObject(t.Context(), lake, "any", time.Minute, url.Values{})
	require.NoError(t, err)
	status, body := fetchURL(t, http.MethodGet, link.String(), "")
	assert.Equal(t, http.StatusOK, status, "the longest token fits into a link: %s", body)

	for _, form := range []url.Values{
		{"Action": {"GetFederationToken"}, "Version": {stsVersion}}, {"Action": {"AssumeRole"}, "Version": {"2010-05-08"}, "Policy": {good.Policy}},
		{"Action": {"AssumeRole"}, "Version": {stsVersion}, "Policy": {good.Policy}, "PolicyArns.member.1.arn": {"arn:aws:iam::aws:policy/AdministratorAccess"}},
	} {
		status, body := e.form(t, form)
		assert.Equal(t, http.StatusBadRequest, status, body)
	}
	status, body = e.form(t, url.Values{"Action": {"AssumeRole"}, "Version": {stsVersion}, "Policy": {good.Policy}, "DurationSeconds": {"60"}})
	assert.Equal(t, http.StatusOK, status, "the least: %s", body)
}

// TestAssumeRoleWithTheAWSSDK asks as AWS's own client does.
func TestAssumeRoleWithTheAWSSDK(t *testing.T) {
	e := start(t)
	tables(t, e)
	client := sts.New(sts.Options{
		BaseEndpoint: aws.String(e.Endpoint()), Region: e.Region(),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: rootKey, SecretAccessKey: rootSecret}, nil
		}),
	})
	out, err := client.AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: aws.String("arn:aws:iam::000000000000:role/sluice"), RoleSessionName: aws.String("job-1"),
		Policy: aws.String(tablePolicy("t1")), DurationSeconds: aws.Int32(60),
	})
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(time.Minute), *out.Credentials.Expiration, 5*time.Second)
	assert.Equal(t, "arn:aws:sts::000000000000:assumed-role/sluice/job-1", *out.AssumedRoleUser.Arn)
	c := e.client(t, credentials.Value{AccessKeyID: *out.Credentials.AccessKeyId, SecretAccessKey: *out.Credentials.SecretAccessKey, SessionToken: *out.Credentials.SessionToken})
	assert.Equal(t, "mine", get(t, c, "t1/data/a"))
	_, err = tryGet(t, c, "t10/data/a")
	assert.Equal(t, "AccessDenied", code(err))
}

// form sends an STS request by hand, signed with the root key.
func (e *endpoint) form(t *testing.T, form url.Values) (int, string) {
	t.Helper()
	body := form.Encode()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.Endpoint()+"/", strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	sum := sha256.Sum256([]byte(body))
	creds := aws.Credentials{AccessKeyID: rootKey, SecretAccessKey: rootSecret}
	require.NoError(t, v4.NewSigner().SignHTTP(t.Context(), creds, req, hex.EncodeToString(sum[:]), "sts", e.Region(), time.Now()))
	return send(t, req)
}

// padded is a policy that allows all, of exactly that many bytes.
func padded(size int) string {
	policy := document(statement{Effect: "Allow", Action: []string{"s3:*"}, Resource: []string{"*", "arn:aws:s3:::"}})
	return strings.Replace(policy, `arn:aws:s3:::"`, "arn:aws:s3:::"+strings.Repeat("x", size-len(policy))+`"`, 1)
}

func TestSessionTokensCannotBeMadeOrChanged(t *testing.T) {
	e := start(t)
	tables(t, e)
	v := e.assume(t, tablePolicy("t1"), time.Hour)
	other := e.assume(t, tablePolicy("t10"), time.Hour)
	require.Equal(t, "mine", get(t, e.client(t, v), "t1/data/a"))
	assert.NotContains(t, v.SessionToken, "czM6", "the policy cannot be read out of it")
	denied := map[string]credentials.Value{}
	for i := 0; i < len(v.SessionToken); i += 97 {
		changed := []byte(v.SessionToken)
		changed[i] = 'A' + (changed[i]+1)%26
		if string(changed) == v.SessionToken {
			changed[i]++
		}
		denied[key("changed at %d", i)] = credentials.Value{AccessKeyID: v.AccessKeyID, SecretAccessKey: v.SecretAccessKey, SessionToken: string(changed)}
	}
	denied["cut"] = credentials.Value{AccessKeyID: v.AccessKeyID, SecretAccessKey: v.SecretAccessKey, SessionToken: v.SessionToken[:len(v.SessionToken)-4]}
	denied["with more"] = credentials.Value{AccessKeyID: v.AccessKeyID, SecretAccessKey: v.SecretAccessKey, SessionToken: v.SessionToken + "AAAA"}
	denied["none"] = credentials.Value{AccessKeyID: v.AccessKeyID, SecretAccessKey: v.SecretAccessKey}
	denied["of another key"] = credentials.Value{AccessKeyID: v.AccessKeyID, SecretAccessKey: v.SecretAccessKey, SessionToken: other.SessionToken}
	denied["another key"] = credentials.Value{AccessKeyID: other.AccessKeyID, SecretAccessKey: v.SecretAccessKey, SessionToken: v.SessionToken}
	denied["another secret"] = credentials.Value{AccessKeyID: v.AccessKeyID, SecretAccessKey: other.SecretAccessKey, SessionToken: v.SessionToken}
	denied["with the root key"] = credentials.Value{AccessKeyID: rootKey, SecretAccessKey: rootSecret, SessionToken: v.SessionToken}
	for name, bad := range denied {
		_, err := tryGet(t, e.client(t, bad), "t1/data/a")
		assert.Contains(t, []string{"InvalidToken", "SignatureDoesNotMatch", "InvalidTokenId"}, code(err), "%s: %v", name, err)
	}
}

func TestSessionsEnd(t *testing.T) {
	e := start(t, func(o *Options) { o.MinSession = time.Second })
	tables(t, e)
	status, body := e.form(t, url.Values{"Action": {"AssumeRole"}, "Version": {stsVersion}, "Policy": {tablePolicy("t1")}, "DurationSeconds": {"2"}})
	require.Equal(t, http.StatusOK, status, body)
	v := credentials.Value{AccessKeyID: between(body, "AccessKeyId"), SecretAccessKey: between(body, "SecretAccessKey"), SessionToken: between(body, "SessionToken")}
	c := e.client(t, v)
	assert.Equal(t, "mine", get(t, c, "t1/data/a"))
	link, err := c.PresignedGetObject(t.Context(), lake, "t1/data/a", time.Hour, url.Values{})
	require.NoError(t, err)
	time.Sleep(2100 * time.Millisecond)
	_, err = tryGet(t, c, "t1/data/a")
	assert.Equal(t, "ExpiredToken", code(err), err)
	_, err = c.Client.PutObject(t.Context(), lake, "t1/data/late", strings.NewReader("x"), 1, minio.PutObjectOptions{})
	assert.Equal(t, "ExpiredToken", code(err), err)
	status, body = fetchURL(t, http.MethodGet, link.String(), "")
	assert.Equal(t, http.StatusBadRequest, status, "a link ends with the credentials that signed it")
	assert.Contains(t, body, "ExpiredToken")
}

func between(document, element string) string {
	_, rest, _ := strings.Cut(document, "<"+element+">")
	content, _, _ := strings.Cut(rest, "</"+element+">")
	return content
}

func TestObjectsAndSessionsSurviveARestart(t *testing.T) {
	e := start(t)
	tables(t, e)
	v := e.assume(t, tablePolicy("t1"), time.Hour)
	id, err := e.client(t, v).NewMultipartUpload(t.Context(), lake, "t1/big", minio.PutObjectOptions{})
	require.NoError(t, err)
	p, err := e.client(t, v).PutObjectPart(t.Context(), lake, "t1/big", id, 1, strings.NewReader("part"), 4, minio.PutObjectPartOptions{})
	require.NoError(t, err)
	before, err := e.root(t).StatObject(t.Context(), lake, "t1/data/a", minio.StatObjectOptions{})
	require.NoError(t, err)
	e.Stop()

	again := start(t, func(o *Options) { o.Folder = e.folder })
	c := again.client(t, v)
	assert.Equal(t, "mine", get(t, c, "t1/data/a"))
	after, err := c.StatObject(t.Context(), lake, "t1/data/a", minio.StatObjectOptions{})
	require.NoError(t, err)
	assert.Equal(t, before.ETag, after.ETag)
	_, err = tryGet(t, c, "t10/data/a")
	assert.Equal(t, "AccessDenied", code(err))
	_, err = c.CompleteMultipartUpload(t.Context(), lake, "t1/big", id, []minio.CompletePart{{PartNumber: 1, ETag: p.ETag}}, minio.PutObjectOptions{})
	require.NoError(t, err)
	again.Stop()

	changed := start(t, func(o *Options) { o.Folder, o.RootSecret = e.folder, "another-secret-of-the-root" })
	_, err = tryGet(t, changed.client(t, v), "t1/data/a")
	assert.Equal(t, "InvalidToken", code(err), "another root secret ends every session")
}

// TestPolicies asks the endpoint, not the evaluator, what a policy allows.
func TestPolicies(t *testing.T) {
	e := start(t)
	put(t, e.root(t), "a/x", "x")
	put(t, e.root(t), "b/x", "x")
	ctx := t.Context()
	operations := map[string]func(*minio.Core) error{
		"get a": func(c *minio.Core) error { _, err := tryGet(t, c, "a/x"); return err },
		"get b": func(c *minio.Core) error { _, err := tryGet(t, c, "b/x"); return err },
		"put a": func(c *minio.Core) error {
			_, err := c.Client.PutObject(ctx, lake, "a/new", strings.NewReader("x"), 1, minio.PutObjectOptions{})
			return err
		},
		"del a": func(c *minio.Core) error {
			return c.RemoveObject(ctx, lake, "a/new", minio.RemoveObjectOptions{})
		},
		"list a": func(c *minio.Core) error { _, err := c.ListObjectsV2(lake, "a/", "", "", "", 10); return err },
		"list":   func(c *minio.Core) error { _, err := c.ListObjectsV2(lake, "", "", "", "", 10); return err },
		"where": func(c *minio.Core) error {
			credentials, err := c.GetCreds()
			require.NoError(t, err)
			if status, _ := e.raw(t, credentials, http.MethodGet, "/lake?location", ""); status != http.StatusOK {
				return minio.ErrorResponse{Code: "AccessDenied"}
			}
			return nil
		},
	}
	allow := func(resource string, actions ...string) statement {
		return statement{Effect: "Allow", Action: actions, Resource: []string{resource}}
	}
	deny := func(resource string, actions ...string) statement {
		return statement{Effect: "Deny", Action: actions, Resource: []string{resource}}
	}
	when := func(s statement, operator, name, value string) statement {
		s.Condition = map[string]map[string][]string{operator: {name: {value}}}
		return s
	}
	const all, inA, bucket = "arn:aws:s3:::lake/*", "arn:aws:s3:::lake/a/*", "arn:aws:s3:::lake"
	for name, c := range map[string]struct {
		policy  string
		allowed []string
	}{
		"everything":              {document(allow("*", "*")), []string{"get a", "get b", "put a", "del a", "list a", "list", "where"}},
		"all of S3 on objects":    {document(allow(all, "s3:*")), []string{"get a", "get b", "put a", "del a"}},
		"a wildcard in an action": {document(allow(inA, "s3:Get*")), []string{"get a"}},
		"? in an action":          {document(allow(inA, "s3:?etObject")), []string{"get a"}},
		"actions ignore case":     {document(allow(inA, "S3:GETOBJECT")), []string{"get a"}},
		"resources do not":        {document(allow("arn:aws:s3:::lake/A/*", "s3:GetObject")), nil},
		"? in a resource":         {document(allow("arn:aws:s3:::lake/?/x", "s3:GetObject")), []string{"get a", "get b"}},
		"the folder is not in it": {document(allow("arn:aws:s3:::lake/a", "s3:*")), nil},
		"append only":             {document(allow(inA, "s3:GetObject", "s3:PutObject")), []string{"get a", "put a"}},
		"write only":              {document(allow(inA, "s3:PutObject")), []string{"put a"}},
		"deny beats allow":        {document(allow("*", "s3:*"), deny(all, "s3:DeleteObject"), deny("arn:aws:s3:::lake/b/*", "s3:*")), []string{"get a", "put a", "list a", "list", "where"}},
		"deny before allow":       {document(deny(inA, "s3:*"), allow(all, "s3:*")), []string{"get b"}},
		"a prefix, StringLike":    {document(when(allow(bucket, "s3:ListBucket"), "StringLike", "s3:prefix", "a/*")), []string{"list a"}},
		"a prefix, StringEquals":  {document(when(allow(bucket, "s3:ListBucket"), "StringEquals", "s3:prefix", "a/")), []string{"list a"}},
		"another prefix":          {document(when(allow(bucket, "s3:ListBucket"), "StringEquals", "s3:prefix", "b/")), nil},
		"a condition that fails":  {document(when(allow(inA, "s3:GetObject"), "StringEquals", "aws:UserAgent", "nobody")), nil},
		"another service":         {document(allow("*", "ec2:*")), nil},
		"another bucket":          {document(allow("arn:aws:s3:::lake2/*", "s3:*")), nil},
	} {
		session := e.client(t, e.assume(t, c.policy, time.Hour))
		for operation, run := range operations {
			err := run(session)
			if assert.Equal(t, contains(c.allowed, operation), err == nil, "%s: %s: %v", name, operation, err); err != nil {
				assert.Equal(t, "AccessDenied", code(err), "%s: %s", name, operation)
			}
		}
	}
}

func contains(list []string, s string) bool {
	return strings.Contains("|"+strings.Join(list, "|")+"|", "|"+s+"|")
}
