package product

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Client calls one running sluice with one bearer token.
type Client struct {
	catalogURI, governanceURI, catalog, token string
	http                                      *http.Client
}

// NewClient makes a client for a catalog.
func NewClient(catalogURI, governanceURI, catalog, token string) *Client {
	transport := &http.Transport{MaxIdleConns: 64, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}
	return &Client{catalogURI, governanceURI, catalog, token, &http.Client{Transport: transport, Timeout: time.Minute}}
}

// StatusError is an answer other than 2xx.
type StatusError struct {
	Code    int
	Message string
}

func (e *StatusError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.Code, e.Message) }

// Do sends a request and decodes a 2xx answer into out, which may be nil or a *[]byte. Other answers are *StatusError,
// and any other error means that nothing is known of what the server did.
func (c *Client) Do(ctx context.Context, method, address string, body, out any) error {
	_, err := c.DoHeader(ctx, method, address, nil, body, out)
	return err
}

// DoHeader is Do with request headers, and gives the answer's.
func (c *Client) DoHeader(ctx context.Context, method, address string, header http.Header, body, out any) (http.Header, error) {
	data, ok := body.([]byte)
	if !ok && body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		return resp.Header, &StatusError{Code: resp.StatusCode, Message: string(answer[:min(len(answer), 1000)])}
	}
	if raw, ok := out.(*[]byte); ok {
		*raw = answer
		return resp.Header, nil
	}
	if out == nil {
		return resp.Header, nil
	}
	return resp.Header, json.Unmarshal(answer, out)
}

// list is a page of the governance API, or of the audit of rows.
type list[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
}

// all reads every page of a list of the governance API.
func all[T any](ctx context.Context, c *Client, path string, query url.Values) ([]T, error) {
	return pages[T](ctx, c, c.governanceURI+path, query)
}

func pages[T any](ctx context.Context, c *Client, address string, query url.Values) ([]T, error) {
	var items []T
	query.Set("limit", "1000")
	for {
		var page list[T]
		if err := c.Do(ctx, http.MethodGet, address+"?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if page.Next == "" || len(page.Items) == 0 {
			return items, nil
		}
		query.Set("after", page.Next)
	}
}
