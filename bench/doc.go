// Package bench measures the built product from outside: its servers run as processes of their own, so that their CPU
// time can be told from the load's. It holds benchmarks alone; README.md says how to run and read them. It imports
// e2e/product, internal/icebergtest and internal/store/pgtest.
package bench
