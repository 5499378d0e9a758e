package objects

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// What the clients of all object stores have in common.
const (
	Attempts      = 4                // of one request, with some 0.2 to 2 s between them
	CallTimeout   = 60 * time.Second // of one call of the Store, attempts included
	DialTimeout   = 5 * time.Second  // to connect
	HeaderTimeout = 20 * time.Second // from the request's last byte to the answer's first
	IdlePerHost   = 64               // connections kept for the next request
)

// NewTransport makes the connections of one client.
func NewTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: DialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   IdlePerHost,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   DialTimeout,
		ResponseHeaderTimeout: HeaderTimeout,
	}
}

// Fill reads p from the body that ask gives, and asks again when the body breaks off. An error of ask ends it: the client
// behind has tried again itself. told puts the last break into words.
func Fill(ctx context.Context, p []byte, ask func() (io.ReadCloser, error), told func(error) error) error {
	for attempt := 1; ; attempt++ {
		body, err := ask()
		if err != nil {
			return err
		}
		_, err = io.ReadFull(body, p)
		discard(body)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || attempt == Attempts {
			return told(err)
		}
	}
}
