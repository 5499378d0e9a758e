package temporalx

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// authority signs certificates, as a company's own does.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &authority{t, cert, key}
}

// sign makes a certificate for servers and clients that ends at until.
func (a *authority) sign(name string, until time.Time) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: until,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	require.NoError(a.t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// gate is what stands in front of a cluster: it ends TLS, looks at client certificates and API keys, and lets calls
// through to a real Temporal.
type gate struct {
	address string
	apiKey  string // "" lets in without

	mu    sync.Mutex
	calls map[string]map[string]bool // by path: the Authorization headers that came with it
}

func openGate(t *testing.T, temporal, apiKey string, conf *tls.Config) *gate {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &gate{address: listener.Addr().String(), apiKey: apiKey, calls: map[string]map[string]bool{}}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: temporal})
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	proxy.Transport, proxy.FlushInterval, proxy.ErrorLog = transport, -1, log.New(io.Discard, "", 0)
	server := &http.Server{
		TLSConfig: conf, ErrorLog: proxy.ErrorLog, Protocols: new(http.Protocols), ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !g.letsIn(r) {
				w.Header().Set("Content-Type", "application/grpc")
				w.Header().Set("Grpc-Status", "16") // UNAUTHENTICATED
				w.Header().Set("Grpc-Message", "Request unauthorized.")
				return
			}
			proxy.ServeHTTP(w, r)
		}),
	}
	server.Protocols.SetHTTP2(true)
	go func() { _ = server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() { _ = server.Close(); transport.CloseIdleConnections() })
	return g
}

func (g *gate) letsIn(r *http.Request) bool {
	key := r.Header.Get("Authorization")
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls[r.URL.Path] == nil {
		g.calls[r.URL.Path] = map[string]bool{}
	}
	g.calls[r.URL.Path][key] = true
	return g.apiKey == "" || key == "Bearer "+g.apiKey
}
