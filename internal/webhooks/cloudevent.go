package webhooks

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/sluice-data/sluice/internal/events"
	"github.com/sluice-data/sluice/models"
)

const (
	// typePrefix begins the type of every CloudEvent: dev.sluice.finding.opened is the audit's finding.opened.
	typePrefix = "dev.sluice."
	// pingType is that of a test, which is no audit event.
	pingType = typePrefix + "webhook.ping"

	contentType = "application/cloudevents+json; charset=utf-8"
)

// cloudEvent is a CloudEvent 1.0 in structured mode.
type cloudEvent struct {
	SpecVersion     string    `json:"specversion"`
	ID              string    `json:"id"`
	Source          string    `json:"source"`
	Type            string    `json:"type"`
	Subject         string    `json:"subject,omitempty"` // catalog.namespace.table, or what else it is about
	Time            time.Time `json:"time"`
	Sequence        string    `json:"sequence,omitempty"` // the event's place in the audit
	DataContentType string    `json:"datacontenttype"`
	Data            any       `json:"data"`
}

// message writes an audit event as what is sent of it.
func message(source string, seq int64, e models.AuditEvent) ([]byte, error) {
	record := events.RecordOf(e)
	return encode(cloudEvent{
		ID: e.EventID, Source: source, Type: typePrefix + string(e.Type), Subject: record.Ref, Time: record.At,
		Sequence: strconv.FormatInt(seq, 10), Data: record,
	})
}

// ping is what a test sends.
func ping(source, id string, w models.Webhook, at time.Time) ([]byte, error) {
	return encode(cloudEvent{
		ID: id, Source: source, Type: pingType, Time: at.UTC(),
		Data: map[string]any{"webhook": w.ID, "name": w.Name, "message": "This is a test. Nothing happened."},
	})
}

func encode(e cloudEvent) ([]byte, error) {
	e.SpecVersion, e.DataContentType = "1.0", "application/json"
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}
