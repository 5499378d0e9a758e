package signing

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// The words that stand for a body's hash in a signature.
const (
	emptyPayload    = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // of no bytes
	unsignedPayload = "UNSIGNED-PAYLOAD"
	chunkedPayload  = "STREAMING-UNSIGNED-PAYLOAD-TRAILER" // chunks without signatures, then a checksum
)

// payload gives what stands for the body in the signature: what the client says, as it sends that header, else that the
// body is not signed. The body that lists what to delete is signed always, so that no other can be sent in its place:
// checksums that are easy to forge, such as CRC32 and MD5, would not see to that.
func payload(c call, body string) (string, error) {
	given := c.headers.value(contentHeader)
	if c.op == deleteObjects {
		sum := sha256.Sum256([]byte(body))
		hash := hex.EncodeToString(sum[:])
		if given != "" && given != unsignedPayload && given != hash {
			return "", fault.New(fault.Invalid, "The request's %s is not the hash of the body that was sent along to be signed.", contentHeader)
		}
		return hash, nil
	}
	switch {
	case given == "":
		if c.op.reads() {
			return emptyPayload, nil
		}
		return unsignedPayload, nil
	case given == unsignedPayload, given == chunkedPayload, isHash(given):
		return given, nil
	case strings.HasPrefix(given, "STREAMING-"):
		return "", fault.New(fault.Invalid, "Requests in signed chunks cannot be signed for others: each chunk takes the key. Set s3.chunked-encoding-enabled=false in the engine's configuration.")
	}
	return "", fault.New(fault.Invalid, "The request's %s is neither a SHA-256 in hexadecimal nor %s.", contentHeader, unsignedPayload)
}

func isHash(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}
