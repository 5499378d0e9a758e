// Package telemetry makes the process's logger and metrics registry. Both are
// handed to whoever needs them: nothing is registered globally. It imports
// nothing of ours.
package telemetry
