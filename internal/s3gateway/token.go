package s3gateway

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// temporaryPrefix begins the access keys of temporary credentials, as on AWS.
const temporaryPrefix = "ASIA"

// errNotOurs: a session token was not sealed here, was changed, or belongs to another access key.
var errNotOurs = errors.New("the session token is not one of this endpoint's")

// session is what a session token says.
type session struct {
	ARN     string `json:"r"` // who the credentials are for, in messages
	Policy  string `json:"p"` // what they may do at most, as an IAM policy document
	Expires int64  `json:"e"` // Unix seconds
}

func (s session) expired(now time.Time) bool { return now.Unix() >= s.Expires }

// vault makes and reads temporary credentials. Nothing is stored: the token is the session, the secret follows from
// the access key.
type vault struct {
	aead   cipher.AEAD
	secret []byte // makes secret keys
}

// newVault derives its keys from the root key and secret: another secret ends every session.
func newVault(rootKey, rootSecret string) (*vault, error) {
	block, err := aes.NewCipher(mac([]byte(rootSecret), "sluice s3 session tokens "+rootKey))
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &vault{aead: aead, secret: mac([]byte(rootSecret), "sluice s3 secret keys "+rootKey)}, nil
}

// newAccessKey makes the access key of new temporary credentials: 80 random bits.
func newAccessKey() string { return temporaryPrefix + rand.Text()[:16] }

func isTemporary(access string) bool { return strings.HasPrefix(access, temporaryPrefix) }

// secretOf gives the secret key that belongs to an access key.
func (v *vault) secretOf(access string) string {
	return base64.RawURLEncoding.EncodeToString(mac(v.secret, access))[:40]
}

// seal makes the session token of an access key: encrypted, because a policy says where tables lie, and good with this
// key only.
func (v *vault) seal(access string, s session) (string, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	sealed := v.aead.Seal(nil, nil, data, []byte(access)) //nolint:gosec // it makes a random nonce of its own
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// open reads a session token. Whether it has expired is for the caller to see.
func (v *vault) open(access, token string) (session, error) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return session{}, errNotOurs
	}
	data, err = v.aead.Open(nil, nil, data, []byte(access))
	if err != nil {
		return session{}, errNotOurs
	}
	var s session
	if json.Unmarshal(data, &s) != nil {
		return session{}, errNotOurs
	}
	return s, nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// signingKey derives the key that signs a request, of Signature Version 4.
func signingKey(secret, date, region, service string) []byte {
	return mac(mac(mac(mac([]byte("AWS4"+secret), date), region), service), "aws4_request")
}
