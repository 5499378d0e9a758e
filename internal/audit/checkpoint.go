package audit

import (
	"bufio"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// Checkpoint is a checkpoint as it is kept outside, with the key that proves it.
type Checkpoint struct {
	ID        string    `json:"id"`
	Seq       int64     `json:"seq"`
	Hash      string    `json:"hash"`
	At        time.Time `json:"at"`
	Pruned    bool      `json:"pruned"`
	KeyID     string    `json:"keyId"`
	PublicKey string    `json:"publicKey"` // base64
	Signature string    `json:"signature"` // base64
}

// statement is what is signed. Each member is on a line of its own and none can hold a line break.
func statement(c models.AuditCheckpoint) []byte {
	return fmt.Appendf(nil, "sluice audit checkpoint 1\nseq: %d\nhash: %s\nat: %s\npruned: %t\nkey: %s\n",
		c.Seq, c.Hash, c.At.UTC().Format("2006-01-02T15:04:05.000000Z"), c.Pruned, c.KeyID)
}

// newCheckpoint states that the chain is at a place. Times are kept in microseconds.
func newCheckpoint(seq int64, hash string, pruned bool, now time.Time, keyID string, key ed25519.PrivateKey) (models.AuditCheckpoint, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return models.AuditCheckpoint{}, err
	}
	c := models.AuditCheckpoint{ID: id.String(), Seq: seq, Hash: hash, Pruned: pruned, At: now.UTC().Truncate(time.Microsecond), KeyID: keyID}
	c.Signature = ed25519.Sign(key, statement(c))
	return c, nil
}

// signed tells whether the key made the checkpoint.
func signed(c models.AuditCheckpoint, public ed25519.PublicKey) bool {
	return len(public) == ed25519.PublicKeySize && isHash(c.Hash) && !strings.ContainsAny(c.KeyID, "\r\n") &&
		ed25519.Verify(public, statement(c), c.Signature)
}

// Exportable gives a checkpoint to be kept outside.
func Exportable(c models.AuditCheckpoint, key models.AuditKey) Checkpoint {
	return Checkpoint{
		ID: c.ID, Seq: c.Seq, Hash: c.Hash, At: c.At.UTC(), Pruned: c.Pruned, KeyID: c.KeyID,
		PublicKey: EncodeKey(key.Public), Signature: base64.StdEncoding.EncodeToString(c.Signature),
	}
}

// EncodeKey writes a public key.
func EncodeKey(public []byte) string { return base64.StdEncoding.EncodeToString(public) }

// DecodeKey reads a public key as EncodeKey writes it.
func DecodeKey(text string) (ed25519.PublicKey, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, fault.New(fault.Invalid, "%q is not a public key: give the publicKey of a checkpoint, 32 bytes in base64.", text)
	}
	return key, nil
}

// maxCheckpointLine bounds a line of a file of checkpoints, in bytes.
const maxCheckpointLine = 4 << 10

// ReadCheckpoints reads checkpoints that were kept outside, one JSON object a line; empty lines are left out.
func ReadCheckpoints(r io.Reader) ([]Checkpoint, error) {
	var list []Checkpoint
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxCheckpointLine)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		var c Checkpoint
		if err := json.Unmarshal([]byte(text), &c); err != nil || c.Seq < 1 || !isHash(c.Hash) {
			return nil, fault.New(fault.Invalid, "Line %d of the checkpoints is none: the file has one JSON object a line, as `sluice audit checkpoints --lines` writes it.", n)
		}
		list = append(list, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The checkpoints cannot be read: the file has one JSON object a line.")
	}
	return list, nil
}

// row gives the checkpoint as the database has it, and the key that it names.
func (c Checkpoint) row() (models.AuditCheckpoint, ed25519.PublicKey, error) {
	public, err := DecodeKey(c.PublicKey)
	if err != nil {
		return models.AuditCheckpoint{}, nil, err
	}
	signature, err := base64.StdEncoding.DecodeString(c.Signature)
	if err != nil {
		return models.AuditCheckpoint{}, nil, fault.New(fault.Invalid, "The signature of the checkpoint of %d is not base64.", c.Seq)
	}
	return models.AuditCheckpoint{
		ID: c.ID, Seq: c.Seq, Hash: c.Hash, At: c.At, Pruned: c.Pruned, KeyID: c.KeyID, Signature: signature,
	}, public, nil
}
