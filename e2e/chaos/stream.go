package chaos

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	guid "github.com/google/uuid"
)

// Stream is a streaming job as its commits show it.
type Stream interface {
	// Summary is what the next commit says of itself.
	Summary() map[string]string
	// Landed is told when that commit is in the table. Sometimes the job is then restarted, as jobs are.
	Landed(r *rand.Rand)
}

// restarts is every how many commits a job is restarted, about.
const restarts = 15

// Flink is a job that goes on from its newest checkpoint when it is restarted, under another job id.
type Flink struct {
	operator, job string
	checkpoint    int64
}

// NewFlink makes a job before its first checkpoint.
func NewFlink() *Flink { return &Flink{operator: id(), job: id(), checkpoint: 1} }

// Summary implements Stream.
func (f *Flink) Summary() map[string]string {
	return map[string]string{
		"engine-name": "flink", "engine-version": "1.20.0", "flink.job-id": f.job, "flink.operator-id": f.operator,
		"flink.max-committed-checkpoint-id": strconv.FormatInt(f.checkpoint, 10),
	}
}

// Landed implements Stream.
func (f *Flink) Landed(r *rand.Rand) {
	f.checkpoint++
	if r.IntN(restarts) == 0 {
		f.job = id()
	}
}

// Replay goes back to the checkpoint before, as a job does that is restored from an old savepoint.
func (f *Flink) Replay() { f.checkpoint-- }

// Connect is a connector whose coordinator, when it is restarted, is another task.
type Connect struct {
	group, task string
	offsets     map[string]int64
}

// NewConnect makes a connector at the beginning of its control topic.
func NewConnect() *Connect {
	return &Connect{group: "connect-" + id()[:8], task: id(), offsets: map[string]int64{"0": 1, "1": 1}}
}

// Summary implements Stream. A commit that did not land is not tried again under its id.
func (c *Connect) Summary() map[string]string {
	offsets, _ := json.Marshal(c.offsets) // numbers by text
	return map[string]string{
		"kafka.connect.commit-id":                                guid.NewString(),
		"kafka.connect.task-id":                                  c.task,
		"kafka.connect.valid-through-ts":                         time.Now().UTC().Format(time.RFC3339),
		fmt.Sprintf("kafka.connect.offsets.control.%s", c.group): string(offsets),
	}
}

// Landed implements Stream.
func (c *Connect) Landed(r *rand.Rand) {
	for partition := range c.offsets {
		c.offsets[partition] += 1 + r.Int64N(20)
	}
	if r.IntN(restarts) == 0 {
		c.task = id()
	}
}

func id() string { return strings.ReplaceAll(guid.NewString(), "-", "") }
