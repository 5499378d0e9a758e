package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"time"
)

const (
	// secretPrefix is how secrets of Standard Webhooks begin.
	secretPrefix = "whsec_"
	// secretSize is that of a new secret, in bytes.
	secretSize = 32
)

// newSecret makes what deliveries are signed with, and the form in which a receiver is given it.
func newSecret() (secret []byte, shown string) {
	secret = make([]byte, secretSize)
	_, _ = rand.Read(secret) // never fails: the program ends if the system has no randomness
	return secret, secretPrefix + base64.StdEncoding.EncodeToString(secret)
}

// Sign gives the header webhook-signature of a message: of its id, when it is sent, and its body.
func Sign(secret []byte, id string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
