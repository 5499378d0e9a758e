package temporalx

import (
	"errors"
	"net"
	"strconv"
	"syscall"

	"github.com/sluice-data/sluice/internal/fault"
)

// loopback is where the services that only talk to each other listen, whatever
// IP the frontend has: they ask nobody who they are.
const loopback = "127.0.0.1"

// port is an address held open until the server that needs it is about to bind
// it, so that a taken port is found before anything starts and two services
// never draw the same free one.
type port struct {
	ip       string
	number   int
	listener net.Listener
}

type ports struct {
	frontend, history, matching, worker, ui *port
}

// CheckPorts tells whether the server and its UI could listen as o says, in the words of StartServer, and holds nothing.
func CheckPorts(o ServerOptions) error {
	if o.IP == "" {
		o.IP = defaultIP
	}
	p, err := reservePorts(o)
	if err == nil {
		p.release()
	}
	return err
}

func reservePorts(o ServerOptions) (*ports, error) {
	if net.ParseIP(o.IP) == nil {
		return nil, fault.New(fault.Invalid, "%q is not an IP address the embedded Temporal server could listen on", o.IP)
	}
	p := &ports{}
	for _, want := range []struct {
		port     **port
		ip       string
		number   int
		what     string
		settings string
	}{
		{&p.frontend, o.IP, o.FrontendPort, "the embedded Temporal server", "the Temporal port (--temporal-port)"},
		{&p.ui, o.IP, o.UIPort, "the Temporal Web UI", "the UI port (--ui-port)"},
		{&p.history, loopback, 0, "Temporal's history service", "free ports on the loopback interface"},
		{&p.matching, loopback, 0, "Temporal's matching service", "free ports on the loopback interface"},
		{&p.worker, loopback, 0, "Temporal's worker service", "free ports on the loopback interface"},
	} {
		if want.port == &p.ui && want.number == NoUI {
			continue
		}
		held, err := holdPort(want.ip, want.number, want.what, want.settings)
		if err != nil {
			p.release()
			return nil, err
		}
		*want.port = held
	}
	return p, nil
}

func holdPort(ip string, number int, what, setting string) (*port, error) {
	address := net.JoinHostPort(ip, strconv.Itoa(number))
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fault.Wrap(err, fault.Unavailable,
			"port %d on %s, wanted for %s, is taken by another process: stop it, or set %s to another port or to 0 for any free one",
			number, ip, what, setting)
	case err != nil:
		return nil, fault.Wrap(err, fault.Unavailable, "%s cannot listen on %s: check %s and the IP address", what, address, setting)
	}
	return &port{ip: ip, number: l.Addr().(*net.TCPAddr).Port, listener: l}, nil
}

// release lets a server bind the port. It is idempotent and works on nil.
func (p *port) release() {
	if p != nil && p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
}

func (p *ports) release() {
	p.releaseTemporal()
	p.ui.release()
}

func (p *ports) releaseTemporal() {
	for _, one := range []*port{p.frontend, p.history, p.matching, p.worker} {
		one.release()
	}
}

// dialAddress is host:port for a client on this machine.
func (p *port) dialAddress() string {
	host := p.ip
	if ip := net.ParseIP(host); ip.IsUnspecified() {
		host = loopback
		if ip.To4() == nil {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(p.number))
}
