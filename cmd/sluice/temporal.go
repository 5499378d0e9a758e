package main

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"os"

	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/temporalx"
)

// externalTemporal says how the configured Temporal is reached.
func externalTemporal(t config.Temporal, logger *slog.Logger) (temporalx.ClientOptions, error) {
	o := temporalx.ClientOptions{Address: t.Address, Namespace: t.Namespace, APIKey: t.APIKey.Reveal(), Logger: sdkLogger(logger)}
	if !t.TLS && t.TLSCA == "" && t.TLSCert == "" && t.TLSServerName == "" {
		return o, nil
	}
	o.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.TLSServerName}
	if t.TLSCA != "" {
		pem, err := os.ReadFile(t.TLSCA)
		if err != nil {
			return o, fault.Wrap(err, fault.Invalid, "the file of temporal-tls-ca cannot be read")
		}
		o.TLS.RootCAs = x509.NewCertPool()
		if !o.TLS.RootCAs.AppendCertsFromPEM(pem) {
			return o, fault.New(fault.Invalid, "the file of temporal-tls-ca, %s, has no PEM certificate", t.TLSCA)
		}
	}
	if t.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(t.TLSCert, t.TLSKey)
		if err != nil {
			return o, fault.Wrap(err, fault.Invalid, "temporal-tls-cert and temporal-tls-key cannot be used")
		}
		o.TLS.Certificates = []tls.Certificate{pair}
	}
	return o, nil
}
