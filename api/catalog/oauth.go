package catalog

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"os"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
)

type grantAnswer struct {
	AccessToken     string `json:"access_token"`
	TokenType       string `json:"token_type"`
	ExpiresIn       int64  `json:"expires_in,omitempty"` // seconds
	IssuedTokenType string `json:"issued_token_type,omitempty"`
	Scope           string `json:"scope,omitempty"`
}

type oauthErrorAnswer struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

// issueToken is the token endpoint. Its errors have the body of RFC 6749, so it writes them itself; c.Error is for
// the access log.
func (h *Handler) issueToken(c *gin.Context) {
	c.Header("Cache-Control", "no-store")
	grant, err := h.grant(c)
	if err == nil {
		err = wire.JSON(c, http.StatusOK, grantAnswer{
			AccessToken:     grant.AccessToken,
			TokenType:       grant.TokenType,
			ExpiresIn:       int64(grant.ExpiresIn.Seconds()),
			IssuedTokenType: grant.IssuedTokenType,
			Scope:           grant.Scope,
		})
	}
	if err == nil {
		return
	}
	_ = c.Error(err)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return // the client's doing, or the time's: the middleware tells which
	}
	refusal := oauthError(err)
	if refusal.Status == http.StatusUnauthorized {
		c.Header("WWW-Authenticate", `Basic realm="sluice"`)
	}
	if refusal.Status == http.StatusServiceUnavailable {
		c.Header("Retry-After", "1")
	}
	_ = wire.JSON(c, refusal.Status, oauthErrorAnswer{Error: refusal.Code, Description: refusal.Description})
}

// TokenPath is the token endpoint below a mount.
const TokenPath = "/v1/oauth/tokens" //nolint:gosec // a route

// TokenRefusal is the body of an answer to a request that was refused before the token endpoint saw it.
func TokenRefusal(status int, message string) any {
	code := "invalid_request"
	switch {
	case status == http.StatusServiceUnavailable:
		code = "temporarily_unavailable"
	case status >= http.StatusInternalServerError:
		code = "server_error"
	}
	return oauthErrorAnswer{Error: code, Description: message}
}

// maxForm is the largest body of the token endpoint, in bytes: who asks there is not known yet.
const maxForm = 64 << 10

func (h *Handler) grant(c *gin.Context) (access.AccessGrant, error) {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	form, err := readForm(c.Request)
	if err != nil {
		return access.AccessGrant{}, err
	}
	in := access.GrantRequest{
		GrantType:        form.Get("grant_type"),
		ClientID:         form.Get("client_id"),
		ClientSecret:     form.Get("client_secret"),
		SubjectToken:     form.Get("subject_token"),
		SubjectTokenType: form.Get("subject_token_type"),
		Scope:            form.Get("scope"),
		Origin:           wire.Origin(c),
	}
	if id, secret, ok := c.Request.BasicAuth(); ok {
		in.ClientID, in.ClientSecret = formDecoded(id), formDecoded(secret)
	}
	if in.GrantType == "" {
		return access.AccessGrant{}, invalidRequest("The parameter grant_type is required.")
	}
	return h.OAuth.IssueAccessToken(c.Request.Context(), in)
}

// readForm reads the body alone: credentials in a query string end up in logs and are not accepted.
func readForm(r *http.Request) (url.Values, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, invalidRequest("Send the parameters as application/x-www-form-urlencoded.")
	}
	if err := r.ParseForm(); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge || errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, wire.ReadError(err)
		}
		return nil, invalidRequest("The form could not be decoded.")
	}
	for name, values := range r.PostForm {
		if len(values) > 1 {
			return nil, invalidRequest("The parameter " + name + " is given more than once.")
		}
	}
	return r.PostForm, nil
}

// formDecoded undoes the form encoding that RFC 6749 asks of Basic credentials and that few clients apply. Neither id nor
// secret has a space, so that a plus sign is one that was not encoded.
func formDecoded(s string) string {
	if decoded, err := url.PathUnescape(s); err == nil {
		return decoded
	}
	return s
}

func invalidRequest(description string) *access.OAuthError {
	return &access.OAuthError{Code: "invalid_request", Description: description, Status: http.StatusBadRequest}
}

// oauthError gives the refusal for any error: those that are not OAuth's keep their status where it matters.
func oauthError(err error) *access.OAuthError {
	if refusal, ok := errors.AsType[*access.OAuthError](err); ok {
		return refusal
	}
	out := &access.OAuthError{Code: "server_error", Description: fault.PublicMessage(err), Status: http.StatusInternalServerError}
	switch fault.CodeOf(err) {
	case fault.Invalid:
		out.Code, out.Status = "invalid_request", http.StatusBadRequest
	case fault.TooLarge:
		out.Code, out.Status = "invalid_request", http.StatusRequestEntityTooLarge
	case fault.Unauthenticated:
		out.Code, out.Status = "invalid_client", http.StatusUnauthorized
	case fault.Unavailable:
		out.Code, out.Status = "temporarily_unavailable", http.StatusServiceUnavailable
	}
	return out
}
