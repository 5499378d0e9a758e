// Package temporald runs a Temporal server as a process of its own, which tests and benchmarks kill and start again. The process is
// the test's own program: its TestMain calls Main first.
//
// It imports internal/temporalx, for the server, and e2e/product, for the process.
package temporald
