package temporalx

import (
	"context"
	"errors"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/keyring"
)

const (
	codecPurpose = "temporal" // of the keyring

	encryptedEncoding = "binary/encrypted"
	metadataKeyID     = "encryption-key-id" // of a payload, for people: the sealed bytes name their key themselves
)

var _ converter.ContextAware = encryptedConverter{}

// EncryptedConverters give what encrypts everything that workflows and activities are given and answer, their memos, and
// the messages and stacks of their failures, under the first key of the ring. What is not encrypted is read as it is, so
// that workflows begun in the clear go on. Ids, search attributes and the types of failures stay readable to Temporal.
func EncryptedConverters(ring *keyring.Ring) (converter.DataConverter, converter.FailureConverter) {
	return converters(newCodec(ring), true)
}

// DecryptingConverters read what EncryptedConverters wrote and encrypt nothing themselves. A process that does not
// encrypt has them, so that encryption is switched on and off one process after the other. With a nil ring, workflows
// that are encrypted wait for a process that has their key.
func DecryptingConverters(ring *keyring.Ring) (converter.DataConverter, converter.FailureConverter) {
	if ring == nil {
		ring = &keyring.Ring{}
	}
	return converters(decrypting{newCodec(ring)}, false)
}

func converters(c converter.PayloadCodec, failures bool) (converter.DataConverter, converter.FailureConverter) {
	data := encryptedConverter{converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), c)}
	return data, temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter: data, EncodeCommonAttributes: failures,
	})
}

// codec encrypts payloads whole, with their metadata.
type codec struct{ sealer *keyring.Sealer }

func newCodec(ring *keyring.Ring) *codec { return &codec{ring.For(codecPurpose)} }

// Encode implements converter.PayloadCodec.
func (c *codec) Encode(payloads []*common.Payload) ([]*common.Payload, error) {
	return each(payloads, func(p *common.Payload) (*common.Payload, error) {
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		sealed, err := c.sealer.Seal(plain, nil)
		if err != nil {
			return nil, err
		}
		return &common.Payload{Data: sealed, Metadata: map[string][]byte{
			converter.MetadataEncoding: []byte(encryptedEncoding),
			metadataKeyID:              []byte(c.sealer.KeyID()),
		}}, nil
	})
}

// Decode implements converter.PayloadCodec.
func (c *codec) Decode(payloads []*common.Payload) ([]*common.Payload, error) {
	return each(payloads, func(p *common.Payload) (*common.Payload, error) {
		if string(p.GetMetadata()[converter.MetadataEncoding]) != encryptedEncoding {
			return p, nil
		}
		plain, err := c.sealer.Open(p.GetData(), nil)
		if err != nil {
			return nil, err
		}
		opened := &common.Payload{}
		if err := proto.Unmarshal(plain, opened); err != nil {
			return nil, fault.Wrap(err, fault.Internal, "what was decrypted is no payload of Temporal's")
		}
		return opened, nil
	})
}

// decrypting is a codec that leaves what is written in the clear.
type decrypting struct{ *codec }

// Encode implements converter.PayloadCodec.
func (decrypting) Encode(payloads []*common.Payload) ([]*common.Payload, error) { return payloads, nil }

func each(payloads []*common.Payload, f func(*common.Payload) (*common.Payload, error)) ([]*common.Payload, error) {
	out := make([]*common.Payload, len(payloads))
	for i, p := range payloads {
		var err error
		if out[i], err = f(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// encryptedConverter is the converter of clients and activities. Within a workflow it becomes a waitingConverter.
type encryptedConverter struct{ converter.DataConverter }

// WithWorkflowContext implements converter.ContextAware.
func (c encryptedConverter) WithWorkflowContext(converter.WorkflowContext) converter.DataConverter {
	return waitingConverter(c)
}

// WithContext implements converter.ContextAware.
func (c encryptedConverter) WithContext(context.Context) converter.DataConverter { return c }

// waitingConverter makes a workflow wait for a key that this worker lacks. An error would be the workflow's result and
// end it for good; a panic fails its task, which Temporal gives out again until a worker has the key.
type waitingConverter struct{ converter.DataConverter }

// FromPayload implements converter.DataConverter.
func (c waitingConverter) FromPayload(p *common.Payload, to any) error {
	return waiting(c.DataConverter.FromPayload(p, to))
}

// FromPayloads implements converter.DataConverter.
func (c waitingConverter) FromPayloads(p *common.Payloads, to ...any) error {
	return waiting(c.DataConverter.FromPayloads(p, to...))
}

// waiting panics with an error of the codec's; the errors of types that do not fit are not.
func waiting(err error) error {
	if of, ok := errors.AsType[*fault.Error](err); ok {
		panic(of)
	}
	return err
}
