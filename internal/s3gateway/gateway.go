package s3gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"regexp"
	"sync"
	"time"

	"github.com/gofiber/fiber/v3"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/s3gateway/folder"
)

// stopTime is how long requests that run may take to end when the endpoint stops.
const stopTime = 1500 * time.Millisecond

// Gateway is a running endpoint.
type Gateway struct {
	app      *fiber.App
	files    *folder.Backend
	listener *listener
	log      *slog.Logger
	region   string

	stop   sync.Once
	served chan struct{} // closed when the server has ended
	err    error         // of the server, readable when served is closed
}

// Start serves until Stop or the end of ctx. When it returns the endpoint accepts connections.
func Start(ctx context.Context, options Options) (*Gateway, error) {
	o, err := options.complete()
	if err != nil {
		return nil, err
	}
	v, err := newVault(o.RootKey, o.RootSecret)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "The keys of the S3 endpoint could not be derived.")
	}
	tcp, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The S3 endpoint cannot listen on %s. Choose another address, or port 0 for any free one.", o.Listen)
	}
	files := folder.New(o.Folder, o.Logger)
	g := &Gateway{
		app: newApp(o, files, v), files: files, listener: newListener(tcp, quiet), log: o.Logger, region: o.Region,
		served: make(chan struct{}),
	}
	go g.serve()
	go func() {
		select {
		case <-ctx.Done():
			g.Stop() //nolint:contextcheck // it ends what the context let run
		case <-g.served:
		}
	}()
	return g, nil
}

func (g *Gateway) serve() {
	defer close(g.served)
	g.err = g.app.Listener(g.listener, fiber.ListenConfig{DisableStartupMessage: true})
	if errors.Is(g.err, net.ErrClosed) {
		g.err = nil
	}
	if g.err != nil {
		g.log.Error("The S3 endpoint ended.", "error", g.err)
	}
}

// Endpoint gives the URL that clients use, for S3 and STS alike.
func (g *Gateway) Endpoint() string { return "http://" + g.listener.Addr().String() }

// Region gives the region that clients sign for.
func (g *Gateway) Region() string { return g.region }

// Done is closed when the endpoint has ended, by Stop or because its server failed.
func (g *Gateway) Done() <-chan struct{} { return g.served }

// EnsureBucket serves the folder of that name, making it where it is missing. It may be called again.
func (g *Gateway) EnsureBucket(name string) error {
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`).MatchString(name) {
		return fault.New(fault.Invalid, "%q is no name for a bucket. Use 3 to 63 lower-case letters, digits and hyphens.", name)
	}
	if err := g.files.Add(name); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The folder of bucket %s cannot be used. Look at its permissions and at the disk.", name)
	}
	return nil
}

// Stop ends the endpoint: no new connections, and what runs is cut off after 1.5 s. It may be called again.
func (g *Gateway) Stop() {
	g.stop.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		if err := g.app.ShutdownWithContext(ctx); err != nil {
			g.log.Debug("S3 requests were cut off.", "error", err)
		}
		_ = g.listener.Close() // closed by now, unless the server had not begun
		g.listener.cutOff()
		if err := g.files.Close(); err != nil {
			g.log.Warn("A folder of the S3 endpoint did not close.", "error", err)
		}
	})
	<-g.served
}
