package bench

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// tick is the unit of CPU times in /proc: 100 a second on every Linux that Go supports.
const tick = 10 * time.Millisecond

// cpu is the CPU time that a process has used so far; false where /proc does not tell.
func cpu(pid int) (time.Duration, bool) {
	fields, ok := stat(pid)
	if !ok {
		return 0, false
	}
	return ticks(fields, utime) + ticks(fields, stime), true
}

// cpuOfTree adds the processes that pid started, those that have ended too.
func cpuOfTree(pid int) time.Duration {
	fields, ok := stat(pid)
	if !ok {
		return 0
	}
	sum := ticks(fields, utime) + ticks(fields, stime) + ticks(fields, cutime) + ticks(fields, cstime)
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		child, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if fields, ok := stat(child); ok && fields[ppid] == strconv.Itoa(pid) {
			sum += ticks(fields, utime) + ticks(fields, stime)
		}
	}
	return sum
}

// Fields of /proc/<pid>/stat after the command's name.
const (
	ppid   = 1
	utime  = 11
	stime  = 12
	cutime = 13
	cstime = 14
)

func stat(pid int) ([]string, bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil, false
	}
	_, after, ok := strings.Cut(string(raw[strings.LastIndexByte(string(raw), ')'):]), " ")
	return strings.Fields(after), ok
}

func ticks(fields []string, i int) time.Duration {
	n, _ := strconv.ParseInt(fields[i], 10, 64)
	return time.Duration(n) * tick
}

// memory is the resident memory of a process in MB.
func memory(pid int) float64 {
	raw, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return math.NaN()
}

// meter measures the timed part of a benchmark: latencies, and the servers' CPU time.
type meter struct {
	at               installation
	server, database time.Duration
	parts            map[string]time.Duration
	mu               sync.Mutex
	latencies        []time.Duration
}

// startMeter begins the timed part.
func startMeter(b *testing.B, at installation) *meter {
	m := &meter{at: at}
	m.server, _ = cpu(at.process.PID())
	if at.database > 0 {
		m.database = cpuOfTree(at.database)
	}
	m.parts = map[string]time.Duration{}
	for name, pid := range at.parts {
		m.parts[name], _ = cpu(pid)
	}
	b.ResetTimer()
	return m
}

func (m *meter) add(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.latencies = append(m.latencies, d)
}

// report ends the timed part.
func (m *meter) report(b *testing.B, unit string) {
	b.StopTimer()
	n := float64(b.N)
	b.ReportMetric(n/b.Elapsed().Seconds(), unit+"/s")
	percentiles(b, m.latencies)
	if now, ok := cpu(m.at.process.PID()); ok {
		b.ReportMetric(milliseconds(now-m.server)/n, "server-cpu-ms/op")
	}
	for name, pid := range m.at.parts {
		if now, ok := cpu(pid); ok {
			b.ReportMetric(milliseconds(now-m.parts[name])/n, name+"-cpu-ms/op")
		}
	}
	if m.at.database > 0 {
		b.ReportMetric(milliseconds(cpuOfTree(m.at.database)-m.database)/n, "db-cpu-ms/op")
	}
}

func percentiles(b *testing.B, d []time.Duration) {
	slices.Sort(d)
	if len(d) > 0 {
		b.ReportMetric(milliseconds(d[len(d)/2]), "p50-ms")
		b.ReportMetric(milliseconds(d[min(len(d)-1, len(d)*99/100)]), "p99-ms")
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
