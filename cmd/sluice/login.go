package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/sluice-data/sluice/internal/config"
)

const (
	// loginPath follows the path of the facade.
	loginPath = "/oauth/tokens"
	// everyRole is the scope of a token that acts with all roles of its principal.
	everyRole = "PRINCIPAL_ROLE:ALL"
)

// clientCredentials are what a principal gets tokens with.
type clientCredentials struct{ id, secret string }

// session finds out how to authenticate: flags, else the environment, and of both a token before client credentials.
// It may find nothing.
func (c *cli) session() (*session, error) {
	s := &session{http: &http.Client{Timeout: callTimeout}}
	given := c.login
	if c.token != "" && given != (clientCredentials{}) {
		return nil, usageError{errors.New("give --token, or --client-id and --client-secret, not both")}
	}
	s.token = c.token
	if s.token == "" && given == (clientCredentials{}) {
		s.token, _ = c.lookupEnv(config.EnvPrefix + "TOKEN")
	}
	if s.token != "" {
		return s, nil
	}
	if given.id == "" {
		given.id, _ = c.lookupEnv(config.EnvPrefix + "CLIENT_ID")
	}
	if given.secret == "" {
		given.secret, _ = c.lookupEnv(config.EnvPrefix + "CLIENT_SECRET")
	}
	switch {
	case given == (clientCredentials{}):
		return s, nil
	case given.id == "":
		return nil, usageError{errors.New("there is a client secret and no client id: give --client-id or set SLUICE_CLIENT_ID")}
	case given.secret == "":
		return nil, usageError{errors.New("there is a client id and no client secret: set SLUICE_CLIENT_SECRET or give --client-secret")}
	}
	s.login = &given
	return s, nil
}

// bearer gives the token, and gets it first where there are only client credentials. base is an API of the Sluice.
func (s *session) bearer(ctx context.Context, base string) (string, error) {
	if s.token != "" || s.login == nil {
		return s.token, nil
	}
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {s.login.id}, "client_secret": {s.login.secret}, "scope": {everyRole},
	}
	root := base
	for _, path := range []string{governancePath, managementPath, facadePath, dataPath} {
		root = strings.TrimSuffix(root, path)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, root+facadePath+loginPath, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	data, status, err := s.exchange(req)
	if err != nil {
		return "", err
	}
	if status >= 300 {
		return "", refusedLogin(status, data)
	}
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	if err := decodeAnswer(data, &answer); err != nil {
		return "", err
	}
	if answer.AccessToken == "" {
		return "", errors.New("the server answered without a token; is the address a Sluice?")
	}
	s.token = answer.AccessToken
	return s.token, nil
}

// refusedLogin makes an error of an OAuth error.
func refusedLogin(status int, data []byte) error {
	var problem struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if json.Unmarshal(data, &problem) == nil && problem.Description != "" {
		return &refused{message: printable(problem.Description), kind: printable(problem.Error), status: status}
	}
	return refusal(status, data)
}
