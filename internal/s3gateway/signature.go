package s3gateway

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v3"
)

const (
	signatureAlgorithm = "AWS4-HMAC-SHA256"
	amzDate            = "20060102T150405Z"
	// maxSkew is how far a client's clock may be off.
	maxSkew = 15 * time.Minute
)

// credential is the Authorization header of a request that is signed with Signature Version 4.
type credential struct {
	access, date, region, service string
	headers                       []string // those that are signed, sorted
	signature                     string
}

// verify checks the signature of an STS request by the root key. Temporary credentials cannot make others.
func (s *stsServer) verify(c fiber.Ctx, body []byte) *refusal {
	cred, ok := parseAuthorization(c.Get(fiber.HeaderAuthorization))
	if !ok || cred.service != "sts" {
		return &refusal{http.StatusForbidden, "MissingAuthenticationToken", "Sign the request with Signature Version 4 for the service sts."}
	}
	date := c.Get("X-Amz-Date")
	when, err := time.Parse(amzDate, date)
	switch {
	case err != nil || when.Format("20060102") != cred.date:
		return &refusal{http.StatusForbidden, "IncompleteSignature", "X-Amz-Date is missing or is not the date of the credential."}
	case s.now().Sub(when).Abs() > maxSkew:
		return &refusal{http.StatusForbidden, "SignatureDoesNotMatch", "The request is more than 15 minutes off. Set the clock."}
	case !slices.Contains(cred.headers, "host") || !slices.Contains(cred.headers, "x-amz-date"):
		return &refusal{http.StatusForbidden, "IncompleteSignature", "The headers host and x-amz-date must be signed."}
	case cred.access != s.rootKey:
		return &refusal{http.StatusForbidden, "InvalidClientTokenId", "The access key may not assume a role here."}
	}
	want := mac(signingKey(s.rootSecret, cred.date, cred.region, cred.service), stringToSign(c, cred, date, body))
	got, err := hex.DecodeString(cred.signature)
	if err != nil || !hmac.Equal(got, want) {
		return &refusal{http.StatusForbidden, "SignatureDoesNotMatch", "The signature does not match. Look at the secret key."}
	}
	return nil
}

// parseAuthorization takes the header apart.
func parseAuthorization(header string) (credential, bool) {
	rest, found := strings.CutPrefix(header, signatureAlgorithm+" ")
	if !found {
		return credential{}, false
	}
	fields := map[string]string{}
	for field := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = value
	}
	scope := strings.Split(fields["Credential"], "/")
	if len(scope) != 5 || scope[4] != "aws4_request" {
		return credential{}, false
	}
	headers := strings.Split(fields["SignedHeaders"], ";")
	if !slices.IsSorted(headers) {
		return credential{}, false
	}
	return credential{access: scope[0], date: scope[1], region: scope[2], service: scope[3], headers: headers, signature: fields["Signature"]}, true
}

// stringToSign is what the client signed, if the request is the one it sent.
func stringToSign(c fiber.Ctx, cred credential, date string, body []byte) string {
	var headers strings.Builder
	for _, name := range cred.headers {
		value := c.Get(name)
		if name == "host" {
			value = string(c.Request().Host())
		}
		headers.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	bodySum := sha256.Sum256(body)
	request := strings.Join([]string{
		fiber.MethodPost, "/", string(c.Request().URI().QueryString()), headers.String(), strings.Join(cred.headers, ";"), hex.EncodeToString(bodySum[:]),
	}, "\n")
	requestSum := sha256.Sum256([]byte(request))
	scope := strings.Join([]string{cred.date, cred.region, cred.service, "aws4_request"}, "/")
	return strings.Join([]string{signatureAlgorithm, date, scope, hex.EncodeToString(requestSum[:])}, "\n")
}
