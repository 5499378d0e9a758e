// Package dispatch carries the outbox to Temporal: it claims events, starts their workflows and removes them, so that every
// committed snapshot is reconciled at least once, whatever is down in between. Dispatchers of many processes share one outbox.
//
// It may import models and internal/fault; Temporal is behind the Starter port.
package dispatch
