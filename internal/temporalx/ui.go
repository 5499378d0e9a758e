package temporalx

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"

	"github.com/sluice-data/sluice/internal/fault"
)

// uiTimeout bounds how long the Web UI may take to answer.
const uiTimeout = 10 * time.Second

// webUI is a running Temporal Web UI.
type webUI struct {
	server *uiserver.Server
	ended  chan struct{}
}

// startWebUI serves the UI on the held port and waits until it answers.
func startWebUI(ctx context.Context, p *port, frontend, namespace string, logger *slog.Logger) (ui *webUI, err error) {
	defer func() {
		// The UI server reports a wrong configuration by panicking.
		if r := recover(); r != nil {
			ui, err = nil, fault.New(fault.Unavailable, "the Temporal Web UI cannot start: %v", r)
		}
	}()
	ui = &webUI{server: uiserver.NewServer(uioptions.WithConfigProvider(uiSettings(p, frontend, namespace))), ended: make(chan struct{})}
	p.release() // as late as possible: the UI server exits the process when it cannot bind
	go func() {
		defer close(ui.ended)
		if err := ui.server.Start(); err != nil {
			logger.Error("the Temporal Web UI ended", "error", err)
		}
	}()
	if err := ui.await(ctx, "http://"+p.dialAddress()+"/healthz"); err != nil {
		ui.stop()
		return nil, err
	}
	return ui, nil
}

func uiSettings(p *port, frontend, namespace string) *uiconfig.Config {
	host := p.ip
	if strings.Contains(host, ":") {
		host = "[" + host + "]" // the UI joins host and port with a bare colon
	}
	return &uiconfig.Config{
		Host: host, Port: p.number, TemporalGRPCAddress: frontend, DefaultNamespace: namespace, EnableUI: true,
		CORS: uiconfig.CORS{CookieInsecure: true}, // plain HTTP on one machine
		// Nothing leaves the machine: no news, no release check.
		DisableNewsFetch: true, NotifyOnNewVersion: false,
		HideLogs: true,
	}
}

func (u *webUI) await(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, uiTimeout)
	defer cancel()
	transport := &http.Transport{DialContext: (&net.Dialer{}).DialContext, DisableKeepAlives: true} // no proxy
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return fault.Wrap(err, fault.Internal, "the Temporal Web UI has no valid address")
		}
		if resp, err := transport.RoundTrip(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fault.Wrap(ctx.Err(), fault.Unavailable, "the Temporal Web UI did not answer on %s", url)
		case <-u.ended:
			return fault.New(fault.Unavailable, "the Temporal Web UI ended while starting")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (u *webUI) stop() {
	u.server.Stop()
	select {
	case <-u.ended:
	case <-time.After(time.Second):
	}
}
