// Package telemetry makes the process's logger and metrics registry, and reads what metrics tell now and then. The first two are
// handed to whoever needs them: nothing is registered globally. It imports
// nothing of ours.
package telemetry
