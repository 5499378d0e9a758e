package oidc

import (
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	defaultPrincipalClaim = "sub"
	defaultClockSkew      = time.Minute
	mostClockSkew         = 10 * time.Minute
)

// Config is the issuers whose tokens are accepted. Load makes it.
type Config struct {
	issuers []issuer
}

// issuer is one entry of the file.
type issuer struct {
	url       string // as tokens name it in iss, to the letter
	audiences []string
	required  []requirement

	principal      path
	principalRules rules // when there are any, a principal that none matches is refused
	prefix         string
	roles          path  // nil: the issuer says nothing of roles
	roleRules      rules // when there are any, a role that none matches is left out

	create bool // its tokens make the principals that they name
	govern bool // its tokens may change governance where their principals may

	algorithms []string
	skew       time.Duration // between its clock and ours

	keysURL   string         // where its keys are; "" for where its discovery document says
	tokenFile string         // holds a bearer token to fetch document and keys with, "" for none
	caFile    string         // "" for the system's authorities
	authority *x509.CertPool // of caFile
}

// requirement is a claim that tokens must have, with one of the values.
type requirement struct {
	claim  path
	values []string
}

// Load reads the file of issuers and the files it names; their paths are relative to its folder. What is wrong with it
// is a fault.Invalid that names the file and the line.
func Load(file string) (Config, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, fault.New(fault.Invalid, "the file of issuers %s does not exist", file)
	}
	if err != nil {
		return Config{}, fault.Wrap(err, fault.Invalid, "the file of issuers %s cannot be read", file)
	}
	cfg, err := parse(file, text)
	if err != nil {
		return Config{}, err
	}
	for i := range cfg.issuers {
		if err := cfg.issuers[i].readFiles(file); err != nil {
			return Config{}, err
		}
	}
	return cfg, nil
}

func (i *issuer) readFiles(file string) error {
	if i.tokenFile != "" {
		i.tokenFile = beside(file, i.tokenFile)
		if _, err := os.Stat(i.tokenFile); err != nil {
			return fault.Wrap(err, fault.Invalid, "%s: discovery-token-file of %s cannot be read", file, i.url)
		}
	}
	if i.caFile == "" {
		return nil
	}
	pem, err := os.ReadFile(beside(file, i.caFile)) // the operator names the file
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "%s: ca-file of %s cannot be read", file, i.url)
	}
	i.authority = x509.NewCertPool()
	if !i.authority.AppendCertsFromPEM(pem) {
		return fault.New(fault.Invalid, "%s: ca-file of %s holds no certificate in PEM form", file, i.url)
	}
	return nil
}

// beside gives the path that name means in the file.
func beside(file, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(file), name)
}
