package azure

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/objects"
)

const testAccount = "sluicetest"

// azurite is a running emulator.
type azurite struct {
	address string // host and port
	key     string // of testAccount
	secure  bool
	roots   *x509.CertPool // where it is secure
}

// findAzurite gives the emulator's program, which e2e/storage/install.sh installs.
func findAzurite(t *testing.T) string {
	t.Helper()
	for _, path := range []string{os.Getenv("SLUICE_TEST_AZURITE"), "../../../e2e/storage/.tools/node_modules/.bin/azurite-blob"} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			path, err = filepath.Abs(path)
			require.NoError(t, err)
			return path
		}
	}
	path, err := exec.LookPath("azurite-blob")
	if err != nil {
		t.Skip("Azurite is not installed: run e2e/storage/install.sh, or set SLUICE_TEST_AZURITE to its azurite-blob")
	}
	return path
}

// startAzurite runs the emulator with one account until the test ends. A secure one takes bearer tokens too.
func startAzurite(t *testing.T, secure bool) azurite {
	t.Helper()
	program := findAzurite(t)
	key := make([]byte, 64)
	_, err := rand.Read(key)
	require.NoError(t, err)
	a := azurite{key: base64.StdEncoding.EncodeToString(key), secure: secure}
	args := []string{"--blobHost", "127.0.0.1", "--blobPort", "0", "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry"}
	if secure {
		var cert, certKey string
		cert, certKey, a.roots = certificate(t)
		args = append(args, "--oauth", "basic", "--cert", cert, "--key", certKey)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "AZURITE_ACCOUNTS="+testAccount+":"+a.key)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	done := make(chan struct{})
	address := make(chan string, 1)
	go func() {
		defer close(done)
		listens := regexp.MustCompile(`listen\w* (?:on|at) https?://([0-9.]+:[0-9]+)`)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if found := listens.FindStringSubmatch(lines.Text()); found != nil {
				select {
				case address <- found[1]:
				default:
				}
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		_ = cmd.Wait()
	})
	select {
	case a.address = <-address:
	case <-done:
		require.Fail(t, "Azurite ended before it listened")
	case <-time.After(60 * time.Second):
		require.Fail(t, "Azurite does not listen")
	}
	return a
}

// endpoint gives the URL of the account's Blob service: by its path, or by its host where it is secure.
func (a azurite) endpoint() string {
	if a.secure {
		_, port, _ := net.SplitHostPort(a.address)
		return "https://" + testAccount + ".blob.azurite.test:" + port
	}
	return "http://" + a.address + "/" + testAccount
}

// transport reaches the emulator whatever the host's name is.
func (a azurite) transport() *http.Transport {
	transport := objects.NewTransport()
	transport.Proxy = nil
	transport.TLSClientConfig = &tls.Config{RootCAs: a.roots}
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, a.address)
	}
	return transport
}

// createContainer makes a container.
func (a azurite) createContainer(t *testing.T, name string) {
	t.Helper()
	key, err := service.NewSharedKeyCredential(testAccount, a.key)
	require.NoError(t, err)
	client, err := service.NewClientWithSharedKeyCredential(a.endpoint(), key,
		&service.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: &http.Client{Transport: a.transport()}}})
	require.NoError(t, err)
	_, err = client.CreateContainer(t.Context(), name, nil)
	require.NoError(t, err)
}

// certificate makes one for the emulator that it and the tests alone know.
func certificate(t *testing.T) (cert, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "azurite"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{testAccount + ".blob.azurite.test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	encoded, err := x509.MarshalECPrivateKey(private)
	require.NoError(t, err)
	dir := t.TempDir()
	cert, key = dir+"/cert.pem", dir+"/key.pem"
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}), 0o600))
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	roots = x509.NewCertPool()
	roots.AddCert(parsed)
	return cert, key, roots
}

// identity signs in to the emulator, which looks at a token's claims and at no signature.
type identity struct{}

// GetToken implements azcore.TokenCredential.
func (identity) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: make([]byte, 32)}, nil)
	if err != nil {
		return azcore.AccessToken{}, err
	}
	expires := time.Now().Add(time.Hour)
	token, err := jwt.Signed(signer).Claims(map[string]any{
		"aud": "https://storage.azure.com", "iss": "https://sts.windows.net/00000000-0000-0000-0000-000000000001/", "exp": expires.Unix(),
		"iat": time.Now().Add(-time.Minute).Unix(), "nbf": time.Now().Add(-time.Minute).Unix(),
		"oid": "00000000-0000-0000-0000-000000000002", "tid": "00000000-0000-0000-0000-000000000001",
	}).Serialize()
	return azcore.AccessToken{Token: token, ExpiresOn: expires}, err
}
