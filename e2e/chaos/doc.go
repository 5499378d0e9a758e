// Package chaos kills the product under load and checks that nothing it promised was broken: no acknowledged commit is
// lost, doubled or half there, every one is reconciled once, and the audit has every effect once.
//
// Check is a pure function over what the writers were told and what was found afterwards; its tests break each promise
// on purpose. The package imports e2e/product, e2e/temporald, internal/icebergtest and internal/store/pgtest: the product is
// reached as outside programs reach it, and of its files and rows only the outbox is read.
//
// TestClusterRows does the same to governed writes: it replays them in order of their snapshots.
//
// TestHistories… need the same program: they look through everything that its Temporal keeps.
package chaos
