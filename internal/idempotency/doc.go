// Package idempotency makes a mutation that is sent twice under one Idempotency-Key happen once. A Claim travels in the
// context of a request; the store writes its row in the transaction of the mutation, so that the key is settled exactly
// when the effect is; a Keeper answers what a key was settled with. Keys belong to a principal. It imports models and
// internal/fault and internal/contend.
package idempotency
