package s3gateway

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// quiet is how long a connection may say nothing, and take nothing, before it is closed. It does not bound a request
// that moves: uploads of many gigabytes may take their time.
const quiet = time.Minute

// maxConnections bounds the open connections; more wait to be accepted.
const maxConnections = 4096

// listener gives connections that end when nothing moves on them, and can close them all.
type listener struct {
	net.Listener
	quiet  time.Duration
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	open map[*conn]struct{}
}

func newListener(l net.Listener, quiet time.Duration) *listener {
	return &listener{
		Listener: l, quiet: quiet, slots: make(chan struct{}, maxConnections), closed: make(chan struct{}), open: map[*conn]struct{}{},
	}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	accepted, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	c := &conn{Conn: accepted, owner: l}
	l.mu.Lock()
	l.open[c] = struct{}{}
	l.mu.Unlock()
	return c, nil
}

// Close implements net.Listener. Open connections stay.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// cutOff closes the connections that are open.
func (l *listener) cutOff() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		_ = c.Conn.Close() // whoever uses it sees the end
	}
}

// conn is a connection that is closed when it is quiet for too long.
type conn struct {
	net.Conn
	owner *listener
	once  sync.Once
	limit atomic.Int64 // a read deadline that the server set, in Unix nanoseconds; 0 for none
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	until := time.Now().Add(c.owner.quiet)
	if limit := c.limit.Load(); limit != 0 && limit < until.UnixNano() {
		until = time.Unix(0, limit)
	}
	if err := c.Conn.SetReadDeadline(until); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// SetReadDeadline implements net.Conn: it shortens what Read waits.
func (c *conn) SetReadDeadline(t time.Time) error {
	if t.IsZero() {
		c.limit.Store(0)
		return nil
	}
	c.limit.Store(t.UnixNano())
	return c.Conn.SetReadDeadline(t)
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.owner.quiet)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.once.Do(func() {
		c.owner.mu.Lock()
		delete(c.owner.open, c)
		c.owner.mu.Unlock()
		<-c.owner.slots
	})
	return c.Conn.Close()
}
