package catalog

// notedSnapshots is how many ids of a commit's snapshots its audit event has, the first ones; the ledger has each.
const notedSnapshots = 20

// counted is how often a commit has each action, as the audit keeps it: kinds of actions are few, a commit's actions
// are as many as a client likes.
func counted(actions []string) map[string]int {
	counts := make(map[string]int)
	for _, action := range actions {
		counts[action]++
	}
	return counts
}
