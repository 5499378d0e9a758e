// Package worker builds the process's Temporal workers, one for each task queue, with the same registrations on each.
//
// It may import workflows and activities.
package worker
