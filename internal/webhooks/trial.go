package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
)

// TestResult is what a receiver answered to a test.
type TestResult struct {
	EventID string
	OK      bool
	Status  int           // 0: there was no answer
	Problem string        // why it did not arrive, "" when it did
	Body    string        // the start of the answer's
	Took    time.Duration // the whole request
}

// TestWebhook sends one signed event at once, which is no audit event, and tells what the receiver answered. A disabled
// webhook can be tested too.
func (s *Service) TestWebhook(ctx context.Context, caller policy.Caller, id string) (TestResult, error) {
	if err := mayChange(caller, "test webhooks"); err != nil {
		return TestResult{}, err
	}
	w, err := s.Store.Webhook(ctx, id)
	if err != nil {
		return TestResult{}, err
	}
	secret, err := s.Sealer.Open(w.Secret, associated(w.ID))
	if err != nil {
		return TestResult{}, fault.Wrap(err, fault.Unavailable, "The secret of webhook %s cannot be decrypted: ask the operators whether an encryption key is missing.", w.Name)
	}
	eventID := uuid.NewString()
	body, err := ping(s.Source, eventID, w, s.Now())
	if err != nil {
		return TestResult{}, err
	}
	a := s.Sender.send(ctx, w.URL, eventID, secret, body)
	return TestResult{EventID: eventID, OK: a.ok(), Status: a.status, Problem: a.problem, Body: a.body, Took: a.took}, nil
}
