package oidc

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-data/sluice/internal/fault"
)

// parse reads the file's text. It opens no other file.
func parse(file string, text []byte) (Config, error) {
	in := reader{file: file}
	root, err := in.document(text)
	if err != nil {
		return Config{}, err
	}
	var cfg Config
	err = in.members(root, "the file of issuers", map[string]func(*yaml.Node) error{
		"issuers": func(n *yaml.Node) error {
			return in.each(n, "issuers", func(item *yaml.Node) error {
				i, err := in.issuer(item)
				if err != nil {
					return err
				}
				if slices.ContainsFunc(cfg.issuers, func(other issuer) bool { return other.url == i.url }) {
					return in.wrong(item, "the issuer %s is there twice", i.url)
				}
				cfg.issuers = append(cfg.issuers, i)
				return nil
			})
		},
	})
	if err == nil && len(cfg.issuers) == 0 {
		err = fault.New(fault.Invalid, "%s names no issuers: list them under issuers, or leave the setting oidc-file empty", file)
	}
	if err != nil {
		return Config{}, err
	}
	return cfg, nil
}

// document gives the one document of the text, as a node.
func (r reader) document(text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	err := decoder.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Invalid, "%s is empty: list issuers in it", r.file)
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s is no YAML: %s", r.file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if !errors.Is(decoder.Decode(&more), io.EOF) {
		return nil, fault.New(fault.Invalid, "%s has more than one YAML document, or text after the first", r.file)
	}
	if len(doc.Content) != 1 {
		return nil, fault.New(fault.Invalid, "%s is empty: list issuers in it", r.file)
	}
	return doc.Content[0], nil
}

func (r reader) issuer(n *yaml.Node) (issuer, error) {
	i := issuer{principal: path{defaultPrincipalClaim}, govern: true, algorithms: algorithms(), skew: defaultClockSkew}
	err := r.members(n, "an issuer", map[string]func(*yaml.Node) error{
		"issuer":               r.location(&i.url),
		"audiences":            r.texts(&i.audiences),
		"required-claims":      func(n *yaml.Node) error { return r.requirements(n, &i.required) },
		"principal-claim":      r.path(&i.principal),
		"principal-mapping":    func(n *yaml.Node) error { return r.rules(n, "principal-mapping", &i.principalRules) },
		"principal-prefix":     r.text(&i.prefix),
		"roles-claim":          r.path(&i.roles),
		"roles-mapping":        func(n *yaml.Node) error { return r.rules(n, "roles-mapping", &i.roleRules) },
		"create-principals":    r.boolean(&i.create),
		"can-govern":           r.boolean(&i.govern),
		"algorithms":           r.algorithms(&i.algorithms),
		"clock-skew":           r.skew(&i.skew),
		"jwks-url":             r.location(&i.keysURL),
		"discovery-token-file": r.text(&i.tokenFile),
		"ca-file":              r.text(&i.caFile),
	})
	if err != nil {
		return issuer{}, err
	}
	return i, r.complete(n, i)
}

// complete checks what the members of an issuer say together.
func (r reader) complete(n *yaml.Node, i issuer) error {
	switch {
	case i.url == "":
		return r.wrong(n, "an issuer has no issuer: give its URL, as its tokens name it in iss")
	case strings.Contains(i.url, "?"):
		return r.wrong(n, "the issuer %s must not have a query", i.url)
	case len(i.audiences) == 0:
		return r.wrong(n, "the issuer %s has no audiences: list what its tokens for this server name in aud", i.url)
	case len(i.roleRules) > 0 && i.roles == nil:
		return r.wrong(n, "the issuer %s has a roles-mapping and no roles-claim: name the claim that holds the roles", i.url)
	case servesEverybody(i.url) && len(i.required) == 0:
		return r.wrong(n, "the issuer %s gives tokens to everybody: say with required-claims whose are accepted, such as those of one organisation", i.url)
	}
	return nil
}

// servesEverybody tells of an issuer where anybody in the world gets a token, for any audience: its signature says
// nothing of who may come in.
func servesEverybody(issuer string) bool {
	return slices.Contains([]string{
		"https://token.actions.githubusercontent.com", "https://accounts.google.com", "https://gitlab.com",
	}, strings.TrimSuffix(issuer, "/"))
}

// checkLocation says what is wrong with a URL that keys are to come from, "" for nothing: whoever could change what is
// read there could sign tokens.
func checkLocation(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return "is no URL such as https://login.example.com"
	case u.User != nil || strings.Contains(text, "#"):
		return "must not have a user or a fragment"
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return "is not encrypted: use https, or a loopback address for tests"
	case u.Scheme != "http" && u.Scheme != "https":
		return "must begin with https://"
	}
	return ""
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
