// Package webhooks sends audit events to addresses that administrators name: who may name them, which events go where,
// how a request looks and is signed, where it may go, and when a delivery is given up.
//
// A delivery is a CloudEvent 1.0 in structured mode, signed as Standard Webhooks says. It comes at least once; receivers
// tell repetitions by its id. Addresses are judged when a connection is made, by what the name resolved to.
//
// It may import models, internal/events, internal/policy and internal/fault, and knows its store by its port.
package webhooks
