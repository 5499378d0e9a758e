package temporalx

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"sync/atomic"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"

	"github.com/sluice-data/sluice/internal/fault"
)

// watchedTLS is gRPC's TLS, and remembers how the last handshake failed: gRPC gives that as text only, and goes on trying
// where no waiting helps.
type watchedTLS struct {
	credentials.TransportCredentials
	last *atomic.Pointer[error]
}

func watchTLS(conf *tls.Config) watchedTLS {
	return watchedTLS{credentials.NewTLS(conf), &atomic.Pointer[error]{}}
}

// ClientHandshake implements credentials.TransportCredentials.
func (w watchedTLS) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := w.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		w.last.Store(&err)
		return nil, nil, err
	}
	return watchedConn{conn, w.last}, info, nil
}

// Clone implements credentials.TransportCredentials.
func (w watchedTLS) Clone() credentials.TransportCredentials {
	return watchedTLS{w.TransportCredentials.Clone(), w.last}
}

// watchedConn notes the refusal of a client certificate, which in TLS 1.3 comes after the client's handshake is done.
type watchedConn struct {
	net.Conn
	last *atomic.Pointer[error]
}

// Read implements net.Conn.
func (c watchedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if isAlert(err) {
		c.last.Store(&err)
	}
	return n, err
}

// isAlert tells whether the other side ended a TLS connection and said why.
func isAlert(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error"
}

// refusal says what is wrong when the last handshake failed for a reason that waiting does not cure, else nil.
func (w watchedTLS) refusal(address string) error {
	last := w.last.Load()
	if last == nil {
		return nil
	}
	err := *last
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return fault.Wrap(err, fault.Unavailable, "Temporal at %s does not speak TLS: remove temporal-api-key and the settings that begin with temporal-tls, or name its TLS port", address)
	}
	if name, ok := errors.AsType[x509.HostnameError](err); ok {
		return fault.Wrap(err, fault.Unavailable, "the certificate of Temporal at %s is not for the name %s: set temporal-tls-server-name to a name it is for", address, name.Host)
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return fault.Wrap(err, fault.Unavailable, "the certificate of Temporal at %s has expired or is not valid yet: renew it, or check this machine's clock", address)
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fault.Wrap(err, fault.Unavailable, "the certificate of Temporal at %s is not one that is trusted: set temporal-tls-ca to the authority that signed it", address)
	}
	if isAlert(err) {
		return fault.Wrap(err, fault.Unavailable, "Temporal at %s refuses this client's TLS (%s): set temporal-tls-cert and temporal-tls-key to a certificate that it accepts", address, alertOf(err))
	}
	return nil
}

// alertOf gives the alert in the words of the TLS specification.
func alertOf(err error) string {
	op, _ := errors.AsType[*net.OpError](err)
	return op.Err.Error()
}

// isDenied tells whether Temporal knows the caller not to be let in.
func isDenied(err error) bool {
	if _, ok := errors.AsType[*serviceerror.PermissionDenied](err); ok {
		return true
	}
	return serviceerror.ToStatus(err).Code() == codes.Unauthenticated
}
