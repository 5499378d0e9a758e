package vending

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	defaultRegion = "us-east-1"
	// anyRole is what stores that know no roles are told, as the parameter must be there.
	anyRole = "arn:aws:iam::000000000000:role/sluice"
)

// order is one AssumeRole.
type order struct {
	profile  Profile
	policy   string
	lifetime time.Duration
	session  string
	table    string
}

// key names an order of one caller, without showing its secrets.
func (o order) key(caller string) string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode([]any{o.profile, o.policy, o.lifetime, o.session, caller}) // strings and numbers: cannot fail
	return hex.EncodeToString(h.Sum(nil))
}

// sessionName makes a name that token services take: 2 to 64 letters, digits and =,.@_-
func sessionName(who string) string {
	name := strings.Map(func(r rune) rune {
		if r < 128 && (unreservedInName(byte(r))) {
			return r
		}
		return '-'
	}, who)
	name = "sluice-" + name
	return name[:min(len(name), 64)]
}

func unreservedInName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("=,.@_-", c) >= 0
}

// assumeRole asks token services, over connections that are kept.
type assumeRole struct {
	http *http.Client
}

func newAssumeRole() assumeRole {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		transport = &http.Transport{}
	}
	transport = transport.Clone()
	transport.ResponseHeaderTimeout = askTime / 2
	return assumeRole{http: &http.Client{Transport: transport}}
}

// assume asks for keys.
func (a assumeRole) assume(ctx context.Context, o order) (Credentials, error) {
	c := o.profile.Config
	in := &sts.AssumeRoleInput{
		RoleArn: aws.String(c.RoleARN), RoleSessionName: aws.String(o.session), Policy: aws.String(o.policy),
		DurationSeconds: aws.Int32(int32(o.lifetime / time.Second)),
	}
	if c.RoleARN == "" {
		in.RoleArn = aws.String(anyRole)
	}
	if c.ExternalID != "" {
		in.ExternalId = aws.String(c.ExternalID)
	}
	out, err := sts.New(a.options(o.profile)).AssumeRole(ctx, in)
	if err != nil {
		return Credentials{}, stsFault(err, o.table)
	}
	k := out.Credentials
	if k == nil || aws.ToString(k.AccessKeyId) == "" || aws.ToString(k.SecretAccessKey) == "" || aws.ToString(k.SessionToken) == "" || k.Expiration == nil {
		return Credentials{}, fault.New(fault.Unavailable, "The object store's token service gave no keys for table %s. Ask the operators to validate the catalog's storage.", o.table)
	}
	return Credentials{AccessKey: *k.AccessKeyId, SecretKey: *k.SecretAccessKey, SessionToken: *k.SessionToken, ExpiresAt: *k.Expiration}, nil
}

// options says where the token service is: at an address of its own, else at the store's, else Amazon's of the region.
func (a assumeRole) options(p Profile) sts.Options {
	o := sts.Options{Region: p.Config.Region, HTTPClient: a.http}
	if o.Region == "" {
		o.Region = defaultRegion
	}
	address := p.Config.STSEndpoint
	if address == "" && !amazon(p.Config) {
		address = cmp.Or(p.Config.EndpointInternal, p.Config.Endpoint)
	}
	if address != "" {
		o.BaseEndpoint = aws.String(withScheme(address))
	}
	keys := aws.Credentials{AccessKeyID: p.Secrets.AccessKey, SecretAccessKey: p.Secrets.SecretKey, SessionToken: p.SessionToken}
	o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return keys, nil })
	return o
}

// amazon tells whether a store is Amazon's: it has no address, or one of theirs.
func amazon(c models.StorageConfig) bool {
	address := cmp.Or(c.EndpointInternal, c.Endpoint)
	if address == "" {
		return true
	}
	u, err := url.Parse(withScheme(address))
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".amazonaws.com.cn")
}

func withScheme(address string) string {
	if strings.Contains(address, "://") {
		return address
	}
	return "https://" + address
}

// stsFault tells a policy that is too long from all else, which an operator has to see to.
func stsFault(err error, table string) error {
	if refusal, ok := errors.AsType[smithy.APIError](err); ok {
		if refusal.ErrorCode() == "PackedPolicyTooLarge" {
			return fault.Wrap(err, fault.Unprocessable, "The locations of table %s are too long or too many for a session policy. Use remote signing, or shorter locations.", table)
		}
		return fault.Wrap(err, fault.Unavailable, "The object store's token service refused to give keys for table %s. Ask the operators to validate the catalog's storage.", table)
	}
	return fault.Wrap(err, fault.Unavailable, "The object store's token service did not answer. Try again.")
}
