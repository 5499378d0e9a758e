package temporalx

import (
	"bufio"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// killedDir is the environment variable that makes TestKilledServer the process to kill.
const killedDir = "SLUICE_TEST_KILLED_DIR"

func TestServerKeepsItsStateWhenKilled(t *testing.T) {
	dir := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^TestKilledServer$")
	child.Env = append(os.Environ(), killedDir+"="+dir)
	child.Stderr = t.Output()
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, child.Process.Kill())
	_ = child.Wait()
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)

	_, c := start(t, dir)
	requireGreeted(t, c, "done")
	w := runWorker(t, c)
	defer w.Stop()
	finishGreet(t, c, "waiting")
	requireScheduleFires(t, c)
}

// TestKilledServer does some work, says so, and waits to be killed.
func TestKilledServer(t *testing.T) {
	dir := os.Getenv(killedDir)
	if dir == "" {
		t.Skip("runs as a child of TestServerKeepsItsStateWhenKilled")
	}
	_, c := start(t, dir)
	runWorker(t, c)
	startGreet(t, c, "done")
	finishGreet(t, c, "done")
	createSchedule(t, c)
	startGreet(t, c, "waiting")
	requireAtRest(t, c, "waiting")
	_, _ = os.Stdout.WriteString("ready\n")
	select {}
}
