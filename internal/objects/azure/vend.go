package azure

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

// The properties of Iceberg's clients. Those that end with a dot go on with a host of the account.
const (
	sasProperty        = "adls.sas-token."
	sasExpiresProperty = "adls.sas-token-expires-at-ms."
	endpointProperty   = "adls.connection-string." // Java's client takes a plain endpoint here
	refreshProperty    = "adls.refresh-credentials-endpoint"
)

const (
	minLifetime = time.Minute
	maxLifetime = 24 * time.Hour
	keyLifetime = 48 * time.Hour // of the user delegation key that signs; Azure's bound is 7 days
	clockSkew   = 5 * time.Minute
)

// ErrNoScopedSAS says that an account without a hierarchical namespace has no SAS of a folder. One of the container would
// open all tables in it, so none is given.
var ErrNoScopedSAS = fmt.Errorf("azure: a SAS of one folder takes an account with a hierarchical namespace: %w", objects.ErrNoScopedKeys)

// Vendor makes SAS of the folders of one storage account: with a user delegation key where Sluice signs in by token (its
// role then needs Storage Blob Delegator), else with the account's key. The former end with the key and can be revoked by
// revoking the account's delegation keys; the latter only by changing the account key.
type Vendor struct {
	account      *account
	hierarchical bool
	now          func() time.Time

	mu         sync.Mutex
	delegation *service.UserDelegationCredential
	until      time.Time // the delegation's end
}

// NewVendor makes the vendor of the root's account; errors are fault.Invalid. The account is not asked anything yet.
func NewVendor(c Config, root objects.Location, now func() time.Time) (*Vendor, error) {
	return newVendor(c, root, now, objects.NewTransport())
}

func newVendor(c Config, root objects.Location, now func() time.Time, transport http.RoundTripper) (*Vendor, error) {
	a, err := newAccount(c, root, transport)
	if err != nil {
		return nil, err
	}
	return &Vendor{account: a, hierarchical: c.Hierarchical, now: now}, nil
}

// Vend gives the SAS of a table, none for an access without rights. A table is one SAS as a rule; a writer who may not
// read data gets one of the whole table to write and one of its metadata to read and write, as a SAS has the same rights
// all over its folder. Clients that know one SAS of an account then have the first, and those that ask anew for one
// cannot choose between two, so that no refresh endpoint is named.
//
// The error is ErrNoScopedSAS for an account without a hierarchical namespace, else a fault.Error.
func (v *Vendor) Vend(ctx context.Context, access models.StorageAccess, o objects.VendOptions) ([]objects.Credential, error) {
	open, err := objects.Openings(access)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	for _, opening := range open {
		if err := v.account.has(opening.At); err != nil {
			return nil, err
		}
	}
	if !v.hierarchical {
		return nil, ErrNoScopedSAS
	}
	expires := v.now().Add(min(max(o.Lifetime, minLifetime), maxLifetime)).UTC().Truncate(time.Second)
	sign, err := v.signer(ctx, open[0].At, expires)
	if err != nil {
		return nil, err
	}
	credentials := make([]objects.Credential, 0, len(open))
	for _, opening := range open {
		token, err := sign(v.values(opening, expires))
		if err != nil {
			return nil, fault.Wrap(err, fault.Internal, "No storage key could be made for table %s.", access.Table)
		}
		credentials = append(credentials, objects.Credential{Prefix: opening.At.String(), Config: v.config(token.Encode(), expires), Expires: expires})
	}
	if o.RefreshEndpoint != "" && len(credentials) == 1 {
		credentials[0].Config[refreshProperty] = o.RefreshEndpoint
	}
	return credentials, nil
}

// values is what is signed. It has no start: clocks differ.
func (v *Vendor) values(o objects.Opening, expires time.Time) sas.BlobSignatureValues {
	protocol := sas.ProtocolHTTPS
	if strings.HasPrefix(v.account.endpoint, "http:") {
		protocol = sas.ProtocolHTTPSandHTTP // an emulator on this machine
	}
	return sas.BlobSignatureValues{
		Protocol:      protocol,
		ExpiryTime:    expires,
		Permissions:   permissions(o),
		ContainerName: o.At.Container(),
		Directory:     o.At.Key(),
	}
}

// config gives the properties for both hosts of the account, as locations may name either.
func (v *Vendor) config(token string, expires time.Time) map[string]string {
	config := map[string]string{}
	for _, host := range []string{v.account.dfs, v.account.blob} {
		maps.Copy(config, map[string]string{
			sasProperty + host:        token,
			sasExpiresProperty + host: strconv.FormatInt(expires.UnixMilli(), 10),
		})
		if !strings.HasPrefix(v.account.endpoint, "https://"+v.account.blob) {
			config[endpointProperty+host] = v.account.endpoint
		}
	}
	return config
}

// signFunc signs a SAS.
type signFunc func(sas.BlobSignatureValues) (sas.QueryParameters, error)

func (v *Vendor) signer(ctx context.Context, at objects.Location, expires time.Time) (signFunc, error) {
	if v.account.key != nil {
		return func(s sas.BlobSignatureValues) (sas.QueryParameters, error) {
			return s.SignWithSharedKey(v.account.key)
		}, nil
	}
	delegation, err := v.delegate(ctx, at, expires)
	if err != nil {
		return nil, err
	}
	return func(s sas.BlobSignatureValues) (sas.QueryParameters, error) {
		return s.SignWithUserDelegation(delegation)
	}, nil
}

// delegate gives a user delegation key that outlives the SAS. One is used for half of its life.
func (v *Vendor) delegate(ctx context.Context, at objects.Location, expires time.Time) (*service.UserDelegationCredential, error) {
	host := strings.TrimPrefix(strings.TrimPrefix(v.account.endpoint, "https://"), "http://")
	if !strings.HasPrefix(host, v.account.name+".") {
		return nil, fault.New(fault.Invalid, "Keys for Azure storage account %s cannot be signed by a token at its endpoint, whose host does not begin with the account's name. Use an endpoint that does, or an account key.", v.account.name)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	if v.delegation != nil && !expires.After(v.until) && now.Add(keyLifetime/2).Before(v.until) {
		return v.delegation, nil
	}
	ctx, cancel := context.WithTimeout(ctx, objects.CallTimeout)
	defer cancel()
	until := now.Add(keyLifetime).UTC().Truncate(time.Second)
	info := service.KeyInfo{
		Start:  to.Ptr(now.Add(-clockSkew).UTC().Format(sas.TimeFormat)),
		Expiry: to.Ptr(until.Format(sas.TimeFormat)),
	}
	key, err := v.account.service.GetUserDelegationCredential(ctx, info, nil)
	if err != nil {
		if status, _ := answer(err); status == http.StatusForbidden {
			return nil, fault.Wrap(err, fault.Unavailable, "Azure gave Sluice no user delegation key for storage account %s. Give its identity the role Storage Blob Delegator there.", v.account.name)
		}
		return nil, storeFault(ctx, at, err)
	}
	v.delegation, v.until = key, until
	return key, nil
}
