// Package audit makes the audit a chain that shows what was changed afterwards.
// Events are written in the transactions of their effects; the Sealer gives each its
// place and a hash over it and the event before, and signs now and then where the
// chain is. The Verifier reads it all again and names the first row that is not what
// was sealed, the Pruner removes old events behind a signed checkpoint.
//
// The hashes and signatures are pure; rows are reached through the small interfaces
// of ports.go. It may import models, internal/fault and internal/policy.
package audit
