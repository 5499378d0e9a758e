package validation

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/objects/signing"
	"github.com/sluice-data/sluice/internal/objects/vending"
	"github.com/sluice-data/sluice/models"
)

// keyLife is how long the keys live that are asked for: the store may make it longer.
const keyLife = time.Minute

// access is all rights on one folder of the trial.
func (t *trial) access() models.StorageAccess {
	return models.StorageAccess{
		Table: "the validation", Areas: []models.StorageArea{{Prefix: t.at("inside")}},
		Rights: models.StorageRights{ReadData: true, ReadMetadata: true, Write: true, Overwrite: true, Delete: true},
	}
}

// sts asks for keys of one folder, and shows that they open it and nothing beside it.
func (t *trial) sts(ctx context.Context) (string, error) {
	if !t.folder.IsS3() {
		return "", skip("Temporary keys by AssumeRole are had of S3 stores alone.")
	}
	p, err := t.v.Profiles.Vending(ctx, t.cat)
	if err != nil {
		return "", err
	}
	if p.Config.STSUnavailable {
		return "", skip("The catalog's or the installation's storage says that there is no token service (stsUnavailable). Requests of engines are signed instead.")
	}
	keys, err := t.v.S3.Vend(ctx, vending.Profile{Config: p.Config, Secrets: p.Secrets, SessionToken: p.Secrets.SessionToken, MinLifetime: p.MinLifetime},
		vending.Ask{Access: t.access(), Lifetime: keyLife, Session: "validation", Caller: uuid.NewString(), Fresh: true})
	switch {
	case errors.Is(err, vending.ErrNoSTS) && p.Secrets.AccessKey == "":
		return "", skip("There are no keys to ask the token service with.")
	case errors.Is(err, vending.ErrNoSTS):
		return "", skip("No role is named that temporary keys could be of (roleArn). Requests of engines are signed instead.")
	case err != nil:
		return "", stsFault(err)
	}
	scoped, err := objects.NewS3Store(storeOf(p, models.StorageSecrets{AccessKey: keys.AccessKey, SecretKey: keys.SecretKey, SessionToken: keys.SessionToken}))
	if err != nil {
		return "", err
	}
	return t.scoped(ctx, scoped)
}

// scoped tries keys of the folder "inside".
func (t *trial) scoped(ctx context.Context, store *objects.S3Store) (string, error) {
	outside := t.at("outside/object")
	if err := t.create(ctx, t.store, outside); err != nil {
		return "", err
	}
	if _, err := store.ReadFile(ctx, t.at(first)); err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "The token service gave keys, but they do not open the folder that they were asked for. Look at the policy of the role.")
	}
	if err := t.create(ctx, store, t.at("inside/by-keys")); err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "The token service gave keys, but they do not let write into the folder that they were asked for. Look at the policy of the role.")
	}
	_, read := store.ReadFile(ctx, outside)
	_, listed := store.List(ctx, t.at("outside"), "", 1)
	written := t.create(ctx, store, t.at("outside/by-keys"))
	for what, err := range map[string]error{"read": read, "listed": listed, "written": written} {
		if _, refused := objects.Refused(err); refused {
			continue
		}
		if err != nil {
			return "", err
		}
		return "", fault.New(fault.Unavailable, "Keys of one folder let objects beside it be %s: the store does not enforce session policies. Set stsUnavailable for the catalog, so that requests are signed instead.", what)
	}
	return "Temporary keys open one folder and nothing beside it.", nil
}

// stsFault says what a token service has against the wish, for whoever has to see to it.
func stsFault(err error) error {
	if refusal, ok := errors.AsType[smithy.APIError](err); ok {
		return fault.Wrap(err, fault.Unavailable, "The token service refused AssumeRole with %s. Check its address, the role and the keys, or set stsUnavailable where the store has none.", refusal.ErrorCode())
	}
	return fault.Wrap(err, fault.Unavailable, "The token service could not be asked for keys. Check its address and the network, or set stsUnavailable where the store has none.")
}

// maxAnswer bounds what is read of an answer to a signed request, in bytes.
const maxAnswer = 64 << 10

// signing signs a request as an engine would have it signed, and sends it.
func (t *trial) signing(ctx context.Context) (string, error) {
	if !t.folder.IsS3() {
		return "", skip("Requests are signed for S3 stores alone.")
	}
	p, err := t.v.Profiles.Signing(ctx, t.cat)
	if err != nil {
		return "", err
	}
	loc, err := objects.Parse(t.at(first))
	if err != nil {
		return "", err
	}
	signed, err := t.v.Signer.Sign( //nolint:contextcheck // it asks nobody
		signing.Profile{Config: p.Config, Secrets: p.Secrets, SessionToken: p.Secrets.SessionToken}, t.access(),
		signing.Request{Region: p.Config.Region, Method: http.MethodGet, URI: uriOf(p.Config, loc)},
	)
	if err != nil {
		return "", err
	}
	status, body, err := t.send(ctx, signed)
	switch {
	case err != nil && p.Config.EndpointInternal != "" && p.Config.EndpointInternal != p.Config.Endpoint:
		return "", skip("The endpoint that engines are told, " + p.Config.Endpoint + ", could not be reached from here.")
	case err != nil:
		return "", fault.Wrap(err, fault.Unavailable, "A signed request could not be sent to the endpoint that engines are told. Check it and the network.")
	case status != http.StatusOK:
		return "", fault.New(fault.Unavailable, "The store answered a signed request with HTTP %d. Check the region, the endpoint and whether buckets are in the path.", status)
	case !bytes.Equal(body, t.content):
		return "", fault.New(fault.Unavailable, "The endpoint that engines are told answered a signed request with something else than the object. Check that it is the store's.")
	}
	return "A signed request was answered.", nil
}

func (t *trial) send(ctx context.Context, signed signing.Signed) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, signed.URI, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	for name, values := range signed.Headers {
		if !strings.EqualFold(name, "Host") {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	resp, err := t.v.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read only
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp.StatusCode, body, err
}

// uriOf is how an engine names an object to the store: buckets in the path but for Amazon's.
func uriOf(c models.StorageConfig, loc objects.Location) string {
	path := ""
	for segment := range strings.SplitSeq(loc.Key(), "/") {
		path += "/" + url.PathEscape(segment)
	}
	if c.Endpoint == "" {
		return "https://" + loc.Bucket() + ".s3." + cmp.Or(c.Region, "us-east-1") + ".amazonaws.com" + path
	}
	return strings.TrimSuffix(c.Endpoint, "/") + "/" + loc.Bucket() + path
}
