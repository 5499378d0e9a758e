package webhooks

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// longestURL bounds an address, in bytes.
const longestURL = 2000

// checkURL judges an address by its looks. What its name resolves to is judged at every connection, by refused.
func checkURL(raw string, private bool) error {
	at, err := url.Parse(raw)
	switch {
	case raw == "" || len(raw) > longestURL:
		return fault.New(fault.Invalid, "Field \"url\" must be an address of at most %d bytes.", longestURL)
	case err != nil || at.Host == "" || at.Opaque != "" || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fault.New(fault.Invalid, "Field \"url\" must be an address such as https://example.com/hooks/sluice.")
	case at.User != nil:
		return fault.New(fault.Invalid, "Field \"url\" must not have credentials in it. Deliveries are signed: let the receiver check the signature.")
	case at.Fragment != "" || strings.Contains(raw, "#"):
		return fault.New(fault.Invalid, "Field \"url\" must not have a fragment, which is never sent.")
	case at.Scheme == "http" && !private, at.Scheme != "https" && at.Scheme != "http":
		return fault.New(fault.Invalid, "Field \"url\" must begin with https://.")
	}
	return checkHost(at.Hostname(), private)
}

// checkHost refuses addresses that are not public, and numbers that a resolver may take for one.
func checkHost(host string, private bool) error {
	if addr, err := netip.ParseAddr(host); err == nil {
		if private {
			return nil
		}
		return refused(addr)
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := strings.ToLower(labels[len(labels)-1])
	switch {
	case last == "" || last[0] >= '0' && last[0] <= '9':
		return fault.New(fault.Invalid, "Field \"url\" must name a host, or have an address in its usual form: %q is neither.", host)
	case !private && (last == "localhost" || len(labels) == 1):
		return fault.New(fault.Invalid, "Field \"url\" names %q, which is in a private network. Webhooks go to public addresses unless the operators set webhook-private-addresses.", host)
	}
	return nil
}

// refused says why nothing is sent to an address, nil when something may be. Whatever is not known to be public is refused.
func refused(addr netip.Addr) error {
	why := notPublic(addr)
	if why == "" {
		return nil
	}
	return fault.New(fault.Invalid, "The address %s is %s. Webhooks go to public addresses unless the operators set webhook-private-addresses.", addr, why)
}

func notPublic(addr netip.Addr) string {
	addr = addr.Unmap()
	switch {
	case addr.Zone() != "" || addr.IsLinkLocalUnicast():
		return "link-local"
	case addr.IsLoopback():
		return "of this machine"
	case addr.IsPrivate():
		return "private"
	case addr.IsMulticast():
		return "multicast"
	case addr.IsUnspecified():
		return "unspecified"
	}
	for _, s := range specialNetworks() {
		if s.network.Contains(addr) {
			return s.what
		}
	}
	if addr.Is6() && !netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20}), 3).Contains(addr) {
		return "not public" // 2000::/3 is all that is given out
	}
	return ""
}

// special is a network that the standard library does not tell apart from public ones.
type special struct {
	network netip.Prefix
	what    string
}

func specialNetworks() []special {
	network := func(a, b, c, d byte, bits int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{a, b, c, d}), bits)
	}
	six := func(bits int, head ...byte) netip.Prefix {
		var whole [16]byte
		copy(whole[:], head)
		return netip.PrefixFrom(netip.AddrFrom16(whole), bits)
	}
	const reserved, embeds = "reserved", "one that stands for an IPv4 address"
	return []special{
		{network(0, 0, 0, 0, 8), "unspecified"},
		{network(100, 64, 0, 0, 10), "of a provider's inner network"},
		{network(168, 63, 129, 16, 32), "of a cloud's metadata service"},
		{network(192, 0, 0, 0, 24), reserved},
		{network(192, 0, 2, 0, 24), reserved},
		{network(192, 88, 99, 0, 24), reserved},
		{network(198, 18, 0, 0, 15), reserved},
		{network(198, 51, 100, 0, 24), reserved},
		{network(203, 0, 113, 0, 24), reserved},
		{network(240, 0, 0, 0, 4), reserved},
		{six(23, 0x20, 0x01), reserved}, // Teredo and others
		{six(32, 0x20, 0x01, 0x0d, 0xb8), reserved},
		{six(16, 0x20, 0x02), embeds},
		{six(20, 0x3f, 0xff), reserved},
	}
}

// withoutQuery gives an address for the audit and for people: what stands behind the question mark may be a secret.
func withoutQuery(raw string) string {
	base, query, found := strings.Cut(raw, "?")
	if found && query != "" {
		return base + "?…"
	}
	return base
}

// hostOf names where a delivery goes, for logs.
func hostOf(raw string) string {
	at, err := url.Parse(raw)
	if err != nil {
		return "?"
	}
	return fmt.Sprintf("%s://%s", at.Scheme, at.Host)
}
