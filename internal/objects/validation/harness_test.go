package validation_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/objects/signing"
	"github.com/sluice-data/sluice/internal/objects/validation"
	"github.com/sluice-data/sluice/internal/objects/vending"
	"github.com/sluice-data/sluice/internal/s3gateway"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/models"
)

// databases runs a test on both.
func databases(t *testing.T, run func(t *testing.T, url string)) {
	t.Run("sqlite", func(t *testing.T) { run(t, "sqlite://"+filepath.Join(t.TempDir(), "sluice.db")) })
	t.Run("postgres", func(t *testing.T) { run(t, pgtest.Database(t)) })
}

// s3 is a real S3 server with the bucket "lake" and keys of its own.
type s3 struct {
	*s3gateway.Gateway
	key, secret string
}

func startS3(t *testing.T) s3 {
	t.Helper()
	s := s3{key: "key-" + uuid.NewString()[:8], secret: "secret-" + uuid.NewString()}
	var err error
	s.Gateway, err = s3gateway.Start(t.Context(), s3gateway.Options{Folder: t.TempDir(), RootKey: s.key, RootSecret: s.secret})
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	require.NoError(t, s.EnsureBucket("lake"))
	return s
}

func (s s3) keys() models.StorageSecrets {
	return models.StorageSecrets{AccessKey: s.key, SecretKey: s.secret}
}

// roles is a token service that gives keys of any role, which may do everything with the bucket. The server's own gives none
// without a session policy.
func (s s3) roles(t *testing.T) string {
	t.Helper()
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		keys, err := credentials.NewSTSAssumeRole(s.Endpoint(), credentials.STSAssumeRoleOptions{
			AccessKey: s.key, SecretKey: s.secret, RoleARN: "arn:aws:iam::1:role/x", RoleSessionName: "test", Location: s.Region(),
			Policy: `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":["s3:GetObject","s3:PutObject"],"Resource":"arn:aws:s3:::lake/*"}}`,
		})
		assert.NoError(t, err)
		v, err := keys.GetWithContext(&credentials.CredContext{Client: http.DefaultClient})
		assert.NoError(t, err)
		_, _ = fmt.Fprintf(w, assumed, v.AccessKeyID, v.SecretAccessKey, v.SessionToken)
	}))
	t.Cleanup(sts.Close)
	return sts.URL
}

// assumed is the answer to AssumeRole.
const assumed = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>` +
	`<AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>%s</SessionToken>` +
	`<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`

func (s s3) config() objects.S3Config {
	return objects.S3Config{Endpoint: s.Endpoint(), PathStyle: true, AccessKey: s.key, SecretKey: s.secret}
}

// direct reads a server's objects with its own keys, around Sluice.
func (s s3) direct(t *testing.T) *objects.S3Store {
	t.Helper()
	store, err := objects.NewS3Store(s.config())
	require.NoError(t, err)
	return store
}

// process is one process of an installation: its own connection, profiles and router.
type process struct {
	store    *store.Store
	ring     *keyring.Ring
	profiles *objects.Profiles
	files    *objects.Router
}

// installation is where processes of one installation meet.
type installation struct {
	url  string
	ring *keyring.Ring
	objects.Installation
}

func newInstallation(t *testing.T, url string, s3 objects.S3Config, roots ...string) *installation {
	t.Helper()
	ring, err := keyring.Parse(keyring.Generate())
	require.NoError(t, err)
	in := &installation{url: url, ring: ring, Installation: objects.Installation{OtherStorage: true, MinLifetime: time.Minute}}
	in.Roots, in.S3 = roots, s3
	s, err := store.Open(t.Context(), store.Config{URL: url})
	require.NoError(t, err)
	require.NoError(t, store.Migrate(t.Context(), s))
	require.NoError(t, s.Close())
	return in
}

func (in *installation) process(t *testing.T) *process {
	t.Helper()
	p := &process{ring: in.ring}
	var err error
	p.store, err = store.Open(t.Context(), store.Config{URL: in.url})
	require.NoError(t, err)
	p.profiles, err = objects.NewProfiles(objects.ProfilesDeps{
		Installation: in.Installation, Catalogs: p.store, Version: p.store.AccessVersion, Sealer: in.ring.For("storage"),
	})
	require.NoError(t, err)
	installed, err := objects.Open(t.Context(), in.Config)
	require.NoError(t, err)
	p.files = p.profiles.Router(installed)
	t.Cleanup(func() {
		require.NoError(t, p.files.Close())
		require.NoError(t, p.store.Close())
	})
	return p
}

func (p *process) validate(t *testing.T, name string) map[string]models.StorageStep {
	t.Helper()
	cat, err := p.store.CatalogByName(t.Context(), name)
	require.NoError(t, err)
	v := validation.New(validation.Deps{
		Profiles: p.profiles, Files: p.files, S3: vending.NewS3(time.Now), Signer: signing.New(time.Now), Now: time.Now,
	})
	steps, err := v.Validate(t.Context(), cat)
	require.NoError(t, err)
	byName := map[string]models.StorageStep{}
	for _, s := range steps {
		byName[s.Name] = s
	}
	return byName
}

func event(kind models.AuditType) models.AuditEvent {
	return models.AuditEvent{EventID: uuid.NewString(), Type: kind, Principal: "root", Allowed: true}
}

// catalog makes a catalog; secrets may be zero.
func (p *process) catalog(t *testing.T, name, base string, storage models.StorageConfig, secrets models.StorageSecrets) {
	t.Helper()
	cat := models.Catalog{ID: uuid.NewString(), Name: name, BaseLocation: base, DefaultWritePolicy: models.GovernedOnly, Version: 1}
	cat.Storage.V = storage
	require.NoError(t, p.store.CreateCatalog(t.Context(), cat, nil, event(models.AuditCatalogCreated)))
	if len(secrets.Names()) > 0 {
		p.setSecrets(t, name, secrets)
	}
}

func (p *process) setSecrets(t *testing.T, name string, secrets models.StorageSecrets) {
	t.Helper()
	cat, err := p.store.CatalogByName(t.Context(), name)
	require.NoError(t, err)
	plain, err := json.Marshal(secrets)
	require.NoError(t, err)
	sealed, err := p.ring.For("storage").Seal(plain, []byte(cat.ID))
	require.NoError(t, err)
	require.NoError(t, p.store.SetStorageSecrets(t.Context(), cat.ID, cat.Version, sealed, event(models.AuditStorageSecretsChanged)))
}

func s3At(endpoint string) models.StorageConfig {
	return models.StorageConfig{Type: models.S3Storage, Endpoint: endpoint, PathStyleAccess: true}
}
