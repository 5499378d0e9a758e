package temporalx

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	// dialTimeout bounds Dial for callers whose context has no deadline.
	dialTimeout = time.Minute
	// dialAttempt bounds one attempt, so that a silent address is tried again.
	dialAttempt = 5 * time.Second
	retryFirst  = 20 * time.Millisecond
	retryMost   = 250 * time.Millisecond
)

// ClientOptions say which Temporal to use and how to be let in.
type ClientOptions struct {
	Address   string // host:port
	Namespace string // default "sluice"
	APIKey    string // implies TLS
	TLS       *tls.Config
	Logger    *slog.Logger // default slog.Default()

	// DataConverter and FailureConverter carry the payload codec; both sides of
	// a task queue must have the same. Nil means Temporal's own.
	DataConverter    converter.DataConverter
	FailureConverter converter.FailureConverter
	// MetricsHandler receives the SDK's measurements; nil drops them.
	MetricsHandler client.MetricsHandler
}

// Dial connects and retries while ctx lives, for a minute at most. It gives up
// at once when Temporal answers that the caller is not let in, and when the two
// cannot agree on TLS. Errors are fault.Unavailable and say which setting to look at.
func Dial(ctx context.Context, o ClientOptions) (client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	opts := o.sdk()
	opts.ConnectionOptions.GetSystemInfoTimeout = dialAttempt
	refusal := func() error { return nil }
	if opts.ConnectionOptions.TLS != nil {
		watched := watchTLS(opts.ConnectionOptions.TLS)
		opts.ConnectionOptions.DialOptions = append(opts.ConnectionOptions.DialOptions, grpc.WithTransportCredentials(watched))
		refusal = func() error { return watched.refusal(o.Address) }
	}
	var c client.Client
	err := retry(ctx, func() error {
		var err error
		if c, err = client.DialContext(ctx, opts); err == nil {
			return nil
		}
		if refused := refusal(); refused != nil {
			return refused
		}
		return err
	})
	if err != nil {
		return nil, dialError(err, o.Address, opts.Namespace)
	}
	return c, nil
}

func dialError(err error, address, namespace string) error {
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		return refused
	}
	if isDenied(err) {
		return fault.Wrap(err, fault.Unavailable, "Temporal at %s does not let this client in: check temporal-api-key, or the client certificate, and what it may do in the namespace %s", address, namespace)
	}
	return fault.Wrap(err, fault.Unavailable, "no connection to Temporal at %s: check that it runs, the address, whether it wants TLS, and the credentials", address)
}

// NewLazyClient makes a client that connects at its first call, so that it does
// not fail when Temporal is down.
func NewLazyClient(o ClientOptions) (client.Client, error) {
	c, err := client.NewLazyClient(o.sdk())
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "the Temporal client for %s is configured wrongly", o.Address)
	}
	return c, nil
}

func (o ClientOptions) sdk() client.Options {
	if o.Namespace == "" {
		o.Namespace = defaultNamespace
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	opts := client.Options{
		HostPort:         o.Address,
		Namespace:        o.Namespace,
		Logger:           sdklog.NewStructuredLogger(o.Logger),
		DataConverter:    o.DataConverter,
		FailureConverter: o.FailureConverter,
		MetricsHandler:   o.MetricsHandler,
	}
	if o.APIKey != "" {
		opts.Credentials = client.NewAPIKeyStaticCredentials(o.APIKey)
		if o.TLS == nil {
			o.TLS = &tls.Config{MinVersion: tls.VersionTLS12} // a key never travels in the clear
		}
	}
	opts.ConnectionOptions.TLS = o.TLS
	return opts
}

// retry calls f until it succeeds, ctx ends or the error is one that waiting does not cure.
func retry(ctx context.Context, f func() error) error {
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		err := f()
		if err == nil || isHopeless(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

func isHopeless(err error) bool {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return true
	}
	_, unimplemented := errors.AsType[*serviceerror.Unimplemented](err)
	return unimplemented || isDenied(err)
}
