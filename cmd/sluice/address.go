package main

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// apiSuffixes are what people copy with the address: any of the APIs below it is as good.
func apiSuffixes() []string {
	return []string{
		governancePath, "/api/governance", "/api/catalog/v1", "/api/catalog", "/api/table/iceberg/v1", "/api/table/iceberg", "/api/management/v1",
	}
}

// governanceBase gives the governance API of the Sluice at uri.
func governanceBase(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", usageError{fmt.Errorf("%q is not an address such as http://127.0.0.1:8181", uri)}
	}
	path := strings.TrimRight(u.Path, "/")
	for _, suffix := range apiSuffixes() {
		if rest, found := strings.CutSuffix(path, suffix); found {
			path = rest
			break
		}
	}
	return u.Scheme + "://" + u.Host + path + governancePath, nil
}

// sameServer tells whether two addresses are of one server. The names of this machine's loopback are one host.
func sameServer(a, b string) bool {
	one, err := url.Parse(a)
	if err != nil {
		return false
	}
	other, err := url.Parse(b)
	if err != nil {
		return false
	}
	sameHost := strings.EqualFold(one.Hostname(), other.Hostname()) || isLoopback(one.Hostname()) && isLoopback(other.Hostname())
	return sameHost && one.Scheme == other.Scheme && portOf(one) == portOf(other) && one.Path == other.Path
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
