// Package workflows is what Sluice does after a commit, durably: reconcile it, reconcile many, sweep for
// what was missed; and purge what was dropped.
//
// Workflows are plain functions: an exported function makes a private state, setup registers what can be asked of it, run
// tells the story. Everything that varies comes as input or from an activity, and nothing else is read, because a
// replay must repeat every decision. Names, ids, task queues, search attributes and schedules are constants here and
// pinned by a test: histories and operators' queries hold them.
//
// It may import models and activities (references, inputs, results), and internal/fault for the starter's errors.
package workflows
