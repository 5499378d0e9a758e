// Package storetest is what a store must do, whatever its database: Run holds
// every dialect to the same behaviour. It may import internal/store, models, the
// packages whose ports the store implements, and internal/fault.
package storetest
