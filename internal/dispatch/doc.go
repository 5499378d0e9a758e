// Package dispatch carries the outbox to Temporal: it reads events in order, starts their workflows and removes them, so that
// every committed snapshot is reconciled at least once, whatever is down in between.
//
// It may import models and internal/fault; Temporal is behind the Starter port.
package dispatch
