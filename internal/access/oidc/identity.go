package oidc

import (
	"slices"
	"strings"

	"github.com/sluice-data/sluice/models"
)

// principalOf gives the name of the principal that the claims are of.
func (s *source) principalOf(c claims) (string, error) {
	value, ok := c.find(s.principal)
	if !ok {
		return "", s.refuse("has no claim %s, which names the principal.", s.principal)
	}
	text, ok := value.(string)
	if !ok {
		return "", s.refuse("has a claim %s that is no text, and it names the principal.", s.principal)
	}
	name, ok := s.principalRules.apply(text)
	if !ok {
		return "", s.refuse("is for %.300q, which no rule of its principal-mapping here matches.", text)
	}
	name = s.prefix + name
	if flaw := models.NameFlaw(name); flaw != "" {
		return "", s.refuse("names the principal %.300q here, and the name %s.", name, flaw)
	}
	// Root's secret alone opens what root may.
	if strings.EqualFold(name, models.RootPrincipal) {
		return "", s.refuse("names the principal root, which its own credentials alone open.")
	}
	return name, nil
}

// rolesOf gives the roles of the claims, each once, in order; nil when the issuer says nothing of roles. A token without
// the claim has none. Roles that no rule matches, and those that can be no name of a role, are left out.
func (s *source) rolesOf(c claims) ([]string, error) {
	if s.roles == nil {
		return nil, nil
	}
	listed, err := c.texts(s.roles)
	if err != nil {
		return nil, s.refuse("is not well formed: %v.", err)
	}
	if value, _ := c.find(s.roles); len(listed) == 1 {
		if text, isText := value.(string); isText {
			listed = strings.Fields(text)
		}
	}
	roles := []string{}
	for _, one := range listed {
		if role, ok := s.roleRules.apply(one); ok && models.NameFlaw(role) == "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return slices.Compact(roles), nil
}
