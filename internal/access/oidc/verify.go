package oidc

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
)

// identify verifies a token of the issuer, whatever it takes. With a refusal it gives who the token is of where that is
// verified.
func (s *source) identify(ctx context.Context, bearer string, head header) (known, error) {
	if !slices.Contains(s.algorithms, head.Algorithm) {
		return known{}, s.refuse("is signed by an algorithm that is not accepted of it. Accepted are %s.", strings.Join(s.algorithms, ", "))
	}
	if !head.isBearer() {
		return known{}, s.refuse("is of a type that is not for requests. Send an access token.")
	}
	set, err := s.keys.usable(ctx)
	if err != nil {
		return known{}, err
	}
	found, verified, err := s.check(ctx, bearer, head, set)
	if err == nil && !verified {
		// Its key may be newer than ours.
		tried := set
		if set, err = s.keys.newer(ctx, tried); err == nil && set != tried {
			found, verified, err = s.check(ctx, bearer, head, set)
		}
	}
	switch {
	case err != nil:
		return known{}, err
	case !verified:
		return known{}, s.refuse("is signed with no key that its issuer publishes.")
	}
	who, err := s.external(found)
	return known{who: who, source: s, set: set}, err
}

// check verifies the signature with the keys; false when none of them made it. The claims are as yet unchecked.
func (s *source) check(ctx context.Context, bearer string, head header, set *keySet) (claims, bool, error) {
	signature := &trial{set: set, head: head}
	// Audience and times are checked by external, which knows several audiences and the issuer's skew.
	token, err := oidc.NewVerifier(s.url, signature, &oidc.Config{
		SkipClientIDCheck: true, SkipExpiryCheck: true, SupportedSigningAlgs: s.algorithms,
	}).Verify(ctx, bearer)
	if !signature.verified {
		return nil, false, nil
	}
	malformed := s.refuse("is not well formed.")
	if err != nil {
		malformed.Cause = err
		return nil, true, malformed
	}
	var payload rawClaims
	if err := token.Claims(&payload); err != nil {
		malformed.Cause = err
		return nil, true, malformed
	}
	found, err := parseClaims(payload)
	if err != nil {
		malformed.Cause = err
		return nil, true, malformed
	}
	return found, true, nil
}

// external checks the claims of a token whose signature is right, and gives who they are of. Of one that is refused for
// its times alone that is given too.
func (s *source) external(c claims) (access.External, error) {
	if c["iss"] != s.url {
		return access.External{}, s.refuse("names another issuer.")
	}
	until, untimely := s.lifetime(c)
	who, err := s.bearerOf(c)
	if err != nil {
		return access.External{}, cmp.Or(untimely, err)
	}
	who.ExpiresAt = until
	return who, untimely
}

// bearerOf gives who the claims are of, times aside.
func (s *source) bearerOf(c claims) (access.External, error) {
	if err := s.audience(c); err != nil {
		return access.External{}, err
	}
	for _, r := range s.required {
		if !c.meets(r) {
			return access.External{}, s.refuse("does not have the value in the claim %s that is required here.", r.claim)
		}
	}
	principal, err := s.principalOf(c)
	if err != nil {
		return access.External{}, err
	}
	roles, err := s.rolesOf(c)
	if err != nil {
		return access.External{}, err
	}
	subject, _ := c["sub"].(string)
	return access.External{
		Issuer: s.url, Subject: subject, Principal: principal, Roles: roles,
		CreatePrincipal: s.create, Govern: s.govern,
	}, nil
}

// lifetime gives until when the token is accepted: its expiry and the clock skew after it.
func (s *source) lifetime(c claims) (time.Time, error) {
	var at [3]*time.Time
	for i, name := range []string{"exp", "nbf", "iat"} {
		var err error
		if at[i], err = c.instant(name); err != nil {
			return time.Time{}, s.refuse("is not well formed: %v.", err)
		}
	}
	expires, notBefore, issued := at[0], at[1], at[2]
	now := s.now()
	switch {
	case expires == nil:
		return time.Time{}, s.refuse("has no expiry, the claim exp. Tokens that never end are not accepted.")
	case !now.Before(expires.Add(s.skew)):
		return time.Time{}, s.refuse("expired at %s. Get a new one there.", expires.UTC().Format(time.RFC3339))
	case notBefore != nil && now.Before(notBefore.Add(-s.skew)):
		return time.Time{}, s.refuse("is not valid before %s.", notBefore.UTC().Format(time.RFC3339))
	case issued != nil && now.Before(issued.Add(-s.skew)):
		return time.Time{}, s.refuse("is from the future: it was issued at %s. Compare the clocks.", issued.UTC().Format(time.RFC3339))
	}
	return expires.Add(s.skew), nil
}

// audience: one of the token's must be one of ours. Which client it was issued to is for required-claims to ask.
func (s *source) audience(c claims) error {
	audiences, err := c.texts(path{"aud"})
	if err != nil {
		return s.refuse("is not well formed: %v.", err)
	}
	for _, one := range audiences {
		if slices.Contains(s.audiences, one) {
			return nil
		}
	}
	return s.refuse("is not meant for this server. Ask for one with the audience %s.", strings.Join(s.audiences, " or "))
}

// refuse makes the error that the holder of a token gets; the sentence goes on from the token.
func (s *source) refuse(format string, args ...any) *fault.Error {
	return fault.New(fault.Unauthenticated, "The token of %s "+format, append([]any{s.url}, args...)...)
}

// rawClaims takes a payload as it is.
type rawClaims []byte

// UnmarshalJSON keeps the text.
func (r *rawClaims) UnmarshalJSON(text []byte) error {
	*r = slices.Clone(text)
	return nil
}
