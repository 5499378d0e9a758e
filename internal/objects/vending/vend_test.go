package vending

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// tokenService answers AssumeRole as a fake, and keeps what it was asked.
type tokenService struct {
	*httptest.Server
	asked   atomic.Int32
	wait    chan struct{} // closed to let answers go
	lock    sync.Mutex
	form    url.Values
	refusal string // an error code instead of keys
}

func newTokenService(t *testing.T) *tokenService {
	s := &tokenService{wait: make(chan struct{})}
	close(s.wait)
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	return s
}

func (s *tokenService) answer(w http.ResponseWriter, r *http.Request) {
	n := s.asked.Add(1)
	<-s.wait
	s.lock.Lock()
	defer s.lock.Unlock()
	if err := r.ParseForm(); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.form = r.Form
	w.Header().Set("Content-Type", "text/xml")
	if s.refusal != "" {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>internal words</Message></Error></ErrorResponse>`, s.refusal)
		return
	}
	seconds, _ := time.ParseDuration(r.Form.Get("DurationSeconds") + "s")
	fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIA%d</AccessKeyId>`+
		`<SecretAccessKey>s%d</SecretAccessKey><SessionToken>t%d</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
		n, n, n, time.Now().Add(seconds).UTC().Format(time.RFC3339))
}

func (s *tokenService) refuse(code string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.refusal = code
}

func (s *tokenService) profile() Profile {
	return Profile{
		Config:      models.StorageConfig{Type: models.S3Storage, Endpoint: s.URL, PathStyleAccess: true, Region: "eu-west-1"},
		Secrets:     models.StorageSecrets{AccessKey: "AK", SecretKey: "secret"},
		MinLifetime: time.Minute,
	}
}

func TestVendAsksForARoleWithThePolicy(t *testing.T) {
	s := newTokenService(t)
	p := s.profile()
	p.Config.RoleARN, p.Config.ExternalID = "arn:aws:iam::1:role/lake", "x1"
	keys, err := NewS3(time.Now).Vend(t.Context(), p, Ask{Access: t1(appender()), Lifetime: 20 * time.Minute, Session: "flink job/ä", Caller: "token"})
	require.NoError(t, err)
	assert.Equal(t, "ASIA1", keys.AccessKey)
	assert.Equal(t, "s1", keys.SecretKey)
	assert.Equal(t, "t1", keys.SessionToken)
	assert.WithinDuration(t, time.Now().Add(20*time.Minute), keys.ExpiresAt, 2*time.Second)
	policy, err := SessionPolicy(p.Config, t1(appender()))
	require.NoError(t, err)
	assert.Equal(t, policy, s.form.Get("Policy"))
	assert.Equal(t, "arn:aws:iam::1:role/lake", s.form.Get("RoleArn"))
	assert.Equal(t, "x1", s.form.Get("ExternalId"))
	assert.Equal(t, "1200", s.form.Get("DurationSeconds"))
	assert.Equal(t, "sluice-flink-job--", s.form.Get("RoleSessionName"))
}

func TestLifetimes(t *testing.T) {
	amazon := Profile{}
	own := Profile{MinLifetime: time.Minute}
	chained := Profile{SessionToken: "temporary"}
	for _, c := range []struct {
		p          Profile
		want, gets time.Duration
	}{
		{amazon, 0, 15 * time.Minute}, {amazon, time.Minute, 15 * time.Minute}, {amazon, time.Hour, time.Hour}, {amazon, 24 * time.Hour, 12 * time.Hour},
		{own, 0, 15 * time.Minute}, {own, time.Second, time.Minute}, {own, 90*time.Second + time.Millisecond, 90 * time.Second},
		{chained, 12 * time.Hour, time.Hour},
	} {
		assert.Equal(t, c.gets, c.p.lifetime(c.want), "%+v, %s", c.p, c.want)
	}
}

func TestKeysAreGivenAgainToTheSameTokenForHalfTheirLife(t *testing.T) {
	s := newTokenService(t)
	var lock sync.Mutex
	now := time.Now()
	clock := func() time.Time { lock.Lock(); defer lock.Unlock(); return now }
	later := func(d time.Duration) { lock.Lock(); defer lock.Unlock(); now = now.Add(d) }
	v := NewS3(clock)
	ask := Ask{Access: t1(appender()), Lifetime: 10 * time.Minute, Session: "p", Caller: "token"}
	key := func(a Ask) string {
		keys, err := v.Vend(t.Context(), s.profile(), a)
		require.NoError(t, err)
		return keys.AccessKey
	}
	assert.Equal(t, "ASIA1", key(ask))
	assert.Equal(t, "ASIA1", key(ask))

	other := ask
	other.Caller = "another token"
	assert.Equal(t, "ASIA2", key(other), "not somebody else's")
	narrower := ask
	narrower.Access = t1(reader())
	assert.Equal(t, "ASIA3", key(narrower), "not those of rights that were lost")

	later(4 * time.Minute)
	assert.Equal(t, "ASIA1", key(ask))
	later(2 * time.Minute)
	assert.Equal(t, "ASIA4", key(ask), "less than half is left")
	fresh := ask
	fresh.Fresh = true
	assert.Equal(t, "ASIA5", key(fresh), "who refreshes gets new ones")
	assert.Equal(t, "ASIA5", key(ask))

	rotated := s.profile()
	rotated.Secrets.SecretKey = "new"
	keys, err := v.Vend(t.Context(), rotated, ask)
	require.NoError(t, err)
	assert.Equal(t, "ASIA6", keys.AccessKey, "not those of keys that were replaced")
}

func TestConcurrentAsksShareOneCall(t *testing.T) {
	s := newTokenService(t)
	s.wait = make(chan struct{})
	v := NewS3(time.Now)
	ask := Ask{Access: t1(reader()), Caller: "token"}
	gone, leave := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { _, err := v.Vend(gone, s.profile(), ask); first <- err }()
	require.Eventually(t, func() bool { return s.asked.Load() == 1 }, 5*time.Second, time.Millisecond)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			keys, err := v.Vend(t.Context(), s.profile(), ask)
			assert.NoError(t, err)
			assert.Equal(t, "ASIA1", keys.AccessKey)
		})
	}
	leave()
	assert.True(t, fault.Is(<-first, fault.Unavailable), "who goes away does not wait")
	close(s.wait)
	wg.Wait()
	assert.EqualValues(t, 1, s.asked.Load(), "and does not end the call of the others")
}

// TestNobodyIsAskedWithoutTokenService: the address must not see one request.
func TestNobodyIsAskedWithoutTokenService(t *testing.T) {
	s := newTokenService(t)
	for name, change := range map[string]func(*Profile){
		"said so":                  func(p *Profile) { p.Config.STSUnavailable = true },
		"no S3":                    func(p *Profile) { p.Config.Type = models.GCSStorage },
		"no keys":                  func(p *Profile) { p.Secrets = models.StorageSecrets{} },
		"Amazon without a role":    func(p *Profile) { p.Config.Endpoint = "" },
		"Amazon's address as well": func(p *Profile) { p.Config.Endpoint = "https://s3.eu-west-1.amazonaws.com" },
	} {
		p := s.profile()
		p.Config.STSEndpoint = s.URL
		change(&p)
		_, err := NewS3(time.Now).Vend(t.Context(), p, Ask{Access: t1(full()), Caller: "token"})
		assert.ErrorIs(t, err, ErrNoSTS, name)
	}
	assert.Zero(t, s.asked.Load())
}

func TestWhereTheTokenServiceIs(t *testing.T) {
	for want, c := range map[string]models.StorageConfig{
		"https://sts.example":        {Endpoint: "https://s3.example", EndpointInternal: "http://inner:9000", STSEndpoint: "sts.example"},
		"http://inner:9000":          {Endpoint: "https://s3.example", EndpointInternal: "http://inner:9000"},
		"https://s3.example":         {Endpoint: "https://s3.example"},
		"":                           {Endpoint: "https://s3.eu-west-1.amazonaws.com", Region: "eu-west-1"}, // the SDK knows
		"https://sts.vpce.amazonaws": {Endpoint: "", STSEndpoint: "https://sts.vpce.amazonaws"},
	} {
		o := newAssumeRole().options(Profile{Config: c})
		got := ""
		if o.BaseEndpoint != nil {
			got = *o.BaseEndpoint
		}
		assert.Equal(t, want, got)
		assert.NotEmpty(t, o.Region)
	}
}

func TestFailuresOfTheTokenService(t *testing.T) {
	s := newTokenService(t)
	v := NewS3(time.Now)
	for code, want := range map[string]fault.Code{"PackedPolicyTooLarge": fault.Unprocessable, "AccessDenied": fault.Unavailable, "MalformedPolicyDocument": fault.Unavailable} {
		s.refuse(code)
		_, err := v.Vend(t.Context(), s.profile(), Ask{Access: t1(full()), Caller: "token"})
		assert.Equal(t, want, fault.CodeOf(err), code)
		assert.Contains(t, fault.PublicMessage(err), "ns.t1", code)
		assert.NotContains(t, fault.PublicMessage(err), "internal words", code)
		assert.ErrorContains(t, err, code, "the cause is in the log")
	}
	s.refuse("")
	_, err := v.Vend(t.Context(), s.profile(), Ask{Access: t1(full()), Caller: "token"})
	assert.NoError(t, err, "a failure is not remembered")

	p := s.profile()
	s.Close()
	_, err = v.Vend(t.Context(), p, Ask{Access: t1(reader()), Caller: "token"})
	assert.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	_, err = v.Vend(t.Context(), p, Ask{Access: t1(models.StorageRights{}), Caller: "token"})
	assert.True(t, fault.Is(err, fault.Forbidden), "%v", err)
}

func TestTheCacheIsBounded(t *testing.T) {
	now := time.Now()
	c := newCache(func() time.Time { return now })
	for i := range maxKept + 100 {
		c.put(fmt.Sprint(i), Credentials{ExpiresAt: now.Add(time.Hour)})
	}
	assert.Len(t, c.kept, maxKept)
	now = now.Add(time.Hour)
	c.put("new", Credentials{ExpiresAt: now.Add(time.Hour)})
	assert.Len(t, c.kept, 1, "what is over goes first")
}

func TestCredentialsDoNotShowTheirKeys(t *testing.T) {
	c := Credentials{AccessKey: "ASIA", SecretKey: "very-secret", SessionToken: "very-secret-too", ExpiresAt: time.UnixMilli(1_800_000_000_000)}
	for _, text := range []string{fmt.Sprint(c), fmt.Sprintf("%+v %#v", c, c), c.LogValue().String()} {
		assert.NotContains(t, text, "very-secret")
	}
	assert.Equal(t, map[string]string{
		"s3.access-key-id": "ASIA", "s3.secret-access-key": "very-secret", "s3.session-token": "very-secret-too",
		"s3.session-token-expires-at-ms": "1800000000000", "s3.remote-signing-enabled": "false",
		"client.refresh-credentials-endpoint": "v1/main/namespaces/ns/tables/t1/credentials",
		"s3.endpoint":                         "http://127.0.0.1:9000", "s3.path-style-access": "true", "s3.region": "us-east-1", "client.region": "us-east-1",
	}, c.ClientConfig(models.StorageConfig{Endpoint: "http://127.0.0.1:9000", PathStyleAccess: true}, "v1/main/namespaces/ns/tables/t1/credentials"))
	assert.Equal(t, map[string]string{
		"s3.access-key-id": "ASIA", "s3.secret-access-key": "very-secret", "s3.session-token": "very-secret-too",
		"s3.session-token-expires-at-ms": "1800000000000", "s3.remote-signing-enabled": "false",
		"s3.region": "eu-west-1", "client.region": "eu-west-1",
	}, c.ClientConfig(models.StorageConfig{Region: "eu-west-1"}, ""), "Amazon's endpoint is the engine's to know")
}
