package gcs

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google/downscope"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

// The properties of Iceberg's clients.
const (
	accessProperty  = "gcs.oauth2.token"
	expiresProperty = "gcs.oauth2.token-expires-at" // milliseconds
	refreshProperty = "gcs.oauth2.refresh-credentials-endpoint"
	projectProperty = "gcs.project-id"
	hostProperty    = "gcs.service.host"
)

const (
	minLifetime = time.Minute
	maxLifetime = time.Hour // of a token of another service account, unless its organisation allows more
	spareLife   = 30 * time.Minute
)

// Vendor makes access tokens that open the folders of one table. A token lives as long as the one it was narrowed from: up
// to an hour, and at least half of that. Google lets its time be chosen only where Sluice acts as another service account
// (Config.ServiceAccount): then it is as long as asked for, within an hour. A token cannot be revoked before.
type Vendor struct {
	config    Config
	own       oauth2.TokenSource
	transport http.RoundTripper
}

// NewVendor makes the vendor; errors are fault.Invalid. Google is not asked anything yet.
func NewVendor(c Config, root objects.Location) (*Vendor, error) {
	return newVendor(c, root, objects.NewTransport())
}

func newVendor(c Config, root objects.Location, transport http.RoundTripper) (*Vendor, error) {
	if err := c.check(root); err != nil {
		return nil, err
	}
	return &Vendor{config: c, transport: transport, own: &tokens{find: c.own, ctx: withClient(transport), early: spareLife}}, nil
}

// Vend gives the key of a table, none for an access without rights. It is one whatever folders the table has, as Java's
// client takes no second. The error is objects.ErrNoScopedKeys where Sluice itself signs in with nothing, else a fault.Error.
func (v *Vendor) Vend(ctx context.Context, access models.StorageAccess, o objects.VendOptions) ([]objects.Credential, error) {
	rules, err := boundary(access)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	if v.config.Anonymous {
		return nil, objects.ErrNoScopedKeys
	}
	token, err := v.narrow(ctx, rules, min(max(o.Lifetime, minLifetime), maxLifetime))
	if err != nil {
		return nil, v.vendFault(ctx, access, err)
	}
	config := map[string]string{
		accessProperty:  token.AccessToken,
		expiresProperty: strconv.FormatInt(token.Expiry.UnixMilli(), 10),
	}
	for property, value := range map[string]string{refreshProperty: o.RefreshEndpoint, projectProperty: v.config.project(), hostProperty: v.config.Endpoint} {
		if value != "" {
			config[property] = value
		}
	}
	return []objects.Credential{{Prefix: commonPrefix(access), Config: config, Expires: token.Expiry}}, nil
}

// narrow exchanges Sluice's token for one within the rules.
func (v *Vendor) narrow(ctx context.Context, rules []downscope.AccessBoundaryRule, lifetime time.Duration) (*oauth2.Token, error) {
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: v.transport, Timeout: objects.HeaderTimeout})
	root, err := v.config.acting(v.own, v.transport, lifetime)(ctx)
	if err != nil {
		return nil, errors.Join(errSignIn, err)
	}
	source, err := downscope.NewTokenSource(ctx, downscope.DownscopingConfig{RootSource: root, Rules: rules})
	if err != nil {
		return nil, err
	}
	token, err := source.Token()
	if err == nil && (token.AccessToken == "" || token.Expiry.IsZero()) {
		err = errors.New("gcs: the answer has no token, or one without an end")
	}
	return token, err
}

// vendFault says what went wrong with the exchange. Its own words may quote what was sent and stay in the cause.
func (v *Vendor) vendFault(ctx context.Context, access models.StorageAccess, err error) error {
	if ctx.Err() != nil {
		return fault.Wrap(ctx.Err(), fault.Unavailable, "The request ended before Google gave a key for table %s.", access.Table)
	}
	return fault.Wrap(err, fault.Unavailable, "Google gave no key for table %s. Check the identity of Sluice, and that it may act as the service account of the storage (Service Account Token Creator).", access.Table)
}

// commonPrefix gives the folder that all areas of a table lie in, the scheme alone where there is none.
func commonPrefix(access models.StorageAccess) string {
	common := ""
	for i, area := range access.Areas {
		at, err := objects.Parse(area.Prefix)
		if err != nil {
			continue // boundary refused it
		}
		for i > 0 && common != "" && !objects.WithinStrings(common, at.String()) {
			common = parent(common)
		}
		if i == 0 {
			common = at.String()
		}
	}
	if common == "" {
		return "gs://"
	}
	return common
}

// parent gives the folder of a location, "" for that of a bucket.
func parent(location string) string {
	rest, _ := strings.CutPrefix(location, "gs://")
	slash := strings.LastIndexByte(rest, '/')
	if slash < 0 {
		return ""
	}
	return "gs://" + rest[:slash]
}
