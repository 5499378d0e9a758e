package s3gateway

import (
	"errors"
	"net/http"
	"time"

	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/iamapi/policy"
	"github.com/versity/versitygw/iamapi/types"
	"github.com/versity/versitygw/s3err"
)

// sessions tells versitygw who signs a request and what a session's policy says of it.
type sessions struct {
	root  auth.Account
	vault *vault
	now   func() time.Time
}

var (
	_ auth.IAMService         = (*sessions)(nil)
	_ auth.SigningKeyProvider = (*sessions)(nil)
	_ auth.PolicyEvaluator    = (*sessions)(nil)
)

func newSessions(o Options, v *vault) *sessions {
	return &sessions{root: auth.Account{Access: o.RootKey, Secret: o.RootSecret, Role: auth.RoleAdmin}, vault: v, now: time.Now}
}

// session opens a session token that is still good.
func (s *sessions) session(access, token string) (session, error) {
	opened, err := s.vault.open(access, token)
	if err != nil {
		return session{}, auth.ErrInvalidSessionToken
	}
	if opened.expired(s.now()) {
		return session{}, s3err.APIError{
			Code: "ExpiredToken", Description: "The provided token has expired.", HTTPStatusCode: http.StatusBadRequest,
		}
	}
	return opened, nil
}

// DeriveSigningKey implements auth.SigningKeyProvider. It is not asked for the root key.
func (s *sessions) DeriveSigningKey(access, token, date, region, service string) ([]byte, auth.Account, error) {
	if !isTemporary(access) {
		return nil, auth.Account{}, auth.ErrNoSuchUser
	}
	opened, err := s.session(access, token)
	if err != nil {
		return nil, auth.Account{}, err
	}
	account := auth.Account{Access: access, Role: auth.RoleUser, SessionToken: token, IsSession: true, Arn: opened.ARN}
	return signingKey(s.vault.secretOf(access), date, region, service), account, nil
}

// EvaluatePolicy implements auth.PolicyEvaluator. A session comes from the root key, which may do everything, so its
// policy alone decides: what it does not allow is denied.
func (s *sessions) EvaluatePolicy(access, token string, actions []auth.Action, resources []string, conditions map[string][]string) (auth.PolicyEvaluation, error) {
	var out auth.PolicyEvaluation
	opened, err := s.session(access, token)
	if errors.Is(err, auth.ErrInvalidSessionToken) {
		err = s3err.GetAPIError(s3err.ErrInvalidToken)
	}
	if err != nil {
		return out, err
	}
	document := []types.PolicyEntry{{PolicyName: "session", PolicyDocument: opened.Policy}}
	decide := func(action, resource string) policy.Decision {
		return policy.EvaluateIdentityPolicies(document, policy.RequestContext{Action: action, Resource: resource, Condition: conditions})
	}
	out.PrincipalArn, out.HasSessionPolicy = opened.ARN, true
	fill(&out.Decisions, actions, resources, func(string, string) policy.Decision { return policy.DecisionAllow })
	fill(&out.SessionDecisions, actions, resources, decide)
	return out, nil
}

// fill makes one decision for each resource and action. Versitygw does not export the type of a decision; its values
// are those of policy.Decision, which a test holds it to.
func fill[T ~int](matrix *[][]T, actions []auth.Action, resources []string, decide func(action, resource string) policy.Decision) {
	*matrix = make([][]T, len(resources))
	for i, resource := range resources {
		row := make([]T, len(actions))
		for j, action := range actions {
			row[j] = T(decide(string(action), resource))
		}
		(*matrix)[i] = row
	}
}

// GetUserAccount implements auth.IAMService.
func (s *sessions) GetUserAccount(access string) (auth.Account, error) {
	if access == s.root.Access {
		return s.root, nil
	}
	return auth.Account{}, auth.ErrNoSuchUser
}

// ResolveAccounts implements auth.IAMService.
func (s *sessions) ResolveAccounts(keys []string) (missing []string, err error) {
	for _, key := range keys {
		if key != s.root.Access {
			missing = append(missing, key)
		}
	}
	return missing, nil
}

// CreateAccount implements auth.IAMService: there is only the root account.
func (s *sessions) CreateAccount(auth.Account) error { return errors.ErrUnsupported }

// UpdateUserAccount implements auth.IAMService.
func (s *sessions) UpdateUserAccount(string, auth.MutableProps) error { return errors.ErrUnsupported }

// DeleteUserAccount implements auth.IAMService.
func (s *sessions) DeleteUserAccount(string) error { return errors.ErrUnsupported }

// ListUserAccounts implements auth.IAMService.
func (s *sessions) ListUserAccounts() ([]auth.Account, error) { return nil, nil }

// Shutdown implements auth.IAMService.
func (s *sessions) Shutdown() error { return nil }
