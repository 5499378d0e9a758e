"""What goes wrong with Flink jobs, and whether it is found: replays, streams that no longer commit; and healthy jobs, of which nothing is."""
import os
import re
import signal
import subprocess
import time
import urllib.request

from product import BOOT, all_governed, call, commits, create_table, drop_all, findings, governed, listing, moment, namespace_uri, table, troubles, wait
from steps import Steps, expect
from streams import Streams, kill

NS = "faults_flink"
ROWS = 6000
WATCH, SLACK = 2, 3  # seconds: --writer-watch-interval, and what a look may take
SINKS = {"v1": {}, "v2": {"table.exec.iceberg.use-v2-sink": "true"}}
QUICK = {"execution.checkpointing.interval": "1s"}
steps = Steps("flink 1.20 faults")
flink = Streams(NS, steps)


def made(name, *fields, **more):
    return steps.run(f"{name}: create table", lambda: create_table(NS, name, *(fields or (("id", "long"), ("n", "long"))), **more), must=True)


def rows(name):
    """count(*) and count(DISTINCT id), as the engine reads the table, which are to be the catalog's count too."""
    found, _ = governed(flink.ref(name))
    count, distinct = map(int, re.fullmatch(r"\+I\[(\d+), (\d+)]", flink.query(f"SELECT count(*), count(DISTINCT id) FROM DB.{name}")).groups())
    expect(count, found["rowCount"])
    return count, distinct


def ledger(name):
    """The commits of a table, oldest first."""
    return list(reversed(listing("/commits", table=table(flink.ref(name))["uuid"])))


def writer(name):
    """The one writer of a table."""
    found = listing("/writers", table=table(flink.ref(name))["uuid"])
    expect(len(found), 1)
    return found[0]


def healthy(name):
    """Nothing was found but silence while the job was dead, and nothing is open."""
    governed(flink.ref(name))
    time.sleep(2 * WATCH + SLACK)
    expect([(f["kind"], f["evidence"]) for f in troubles(flink.ref(name))], [])
    late = findings(flink.ref(name))
    expect([f["kind"] for f in late if f["open"]], [])
    return f"{len(ledger(name))} commits; late {len(late)} times, while it was dead"


def ended(name):
    """A bounded job says with its last commit that it is done; one that had nothing left since its last checkpoint does not commit, and is retired."""
    governed(flink.ref(name))
    w = writer(name)
    if w["state"] != "finished":
        expect("checkpoint/" in ledger(name)[-1]["unit"], True)
        cli("writers", "retire", w["id"], "--note", "it has ended")
    return w


def restored(kind, name, sink, want):
    job = flink.start(kind, name, ROWS, **SINKS[sink])
    flink.committing(job, name, 2)
    kill(job)
    flink.end(kind, name, ROWS, flink.latest(name), **SINKS[sink])
    expect((ended(name)["kind"], len({c["job"] for c in ledger(name)})), ("flink", 2))
    expect(rows(name), want)
    return healthy(name)


def afresh(name, sink):
    """Another job of the same topology, and so of the same operator id, that has nothing of the first one's state."""
    job = flink.start("insert", name, 100000, **SINKS[sink])
    flink.committing(job, name, 3)
    kill(job)
    flink.end("insert", name, f"100001-{100000 + ROWS}", **SINKS[sink])
    expect((len({c["job"] for c in ledger(name)}), ended(name)["commits"]), (2, len(ledger(name))))
    count, distinct = rows(name)
    expect(distinct, count)
    return healthy(name)


def bounded(name):
    for i, mode in enumerate(("batch", "batch", "streaming", "streaming")):
        expect(flink.java("Insert", mode, f"INSERT INTO DB.{name} VALUES (CAST({i} AS BIGINT), CAST(1 AS BIGINT))").wait(timeout=300), 0)
    expect(rows(name), (4, 4))
    expect({w["state"] for w in listing("/writers", table=table(flink.ref(name))["uuid"])}, {"finished"})
    return healthy(name)


def retained(name, sink, least, **settings):
    """Runs a job until it has committed many checkpoints, all of which are kept, and kills it. It gives the number of the last one committed."""
    job = flink.start("insert", name, 100000, **QUICK, **SINKS[sink], **{"execution.checkpointing.num-retained": "100"}, **settings)

    def last():
        if job.poll() is not None:
            raise AssertionError(f"exit {job.poll()}")
        return max([int(c["unit"].split("/")[1]) for c in ledger(name)] or [0]) >= least
    wait(f"checkpoint {least}", last, 300)
    kill(job)
    settled_last = ledger(name)[-1]
    return int(settled_last["unit"].split("/")[1]), settled_last["job"]


def replayed(name):
    """With sink V2, a job that is restored from an older checkpoint commits again what was committed since."""
    last, old = retained(name, "v2", 16)
    kept = flink.checkpoints(name)
    job = flink.start("insert", name, 100000, kept[11], **QUICK, **SINKS["v2"])
    wait("the job passes where the first one was", lambda: int(ledger(name)[-1]["unit"].split("/")[1]) > last and ledger(name)[-1]["job"] != old, 300)
    kill(job)
    count, distinct = rows(name)
    if count <= distinct:
        raise AssertionError(f"{count} rows, {distinct} of them different: nothing was replayed")
    twice = {}
    for c in ledger(name):
        twice.setdefault(c["unit"], []).append(c)
    twice = {u: cs for u, cs in twice.items() if len(cs) > 1}
    found = findings(flink.ref(name), kind="duplicate_checkpoint")
    expect({(f["evidence"]["unit"], f["evidence"]["earlierSnapshot"], f["evidence"]["snapshot"], f["evidence"]["earlierJob"], f["evidence"]["job"]) for f in found},
           {(u, a["snapshotId"], b["snapshotId"], a["job"], b["job"]) for u, (a, b) in twice.items()})
    if not found or not all(f["open"] and f["severity"] == "high" for f in found):
        raise AssertionError(f"{len(found)} duplicates, not all open and high")
    expect({f["kind"] for f in troubles(flink.ref(name))}, {"duplicate_checkpoint"})
    return f"checkpoints {', '.join(sorted(twice))} were committed by two jobs and {count - distinct} rows are there twice: {len(found)} findings"


def skipped(name):
    """Sink V1 does not commit before its checkpoints are where they were; then it commits all that it wrote again. The silence is seen, and the files."""
    last, old = retained(name, "v1", 25)
    cli("writers", "set", writer(name)["id"], "--every", "20s")
    job = flink.start("insert", name, 100000, flink.checkpoints(name)[2], **QUICK, **SINKS["v1"])
    wait("the restored job commits", lambda: ledger(name)[-1]["job"] != old, 300)
    flink.committing(job, name, 2)
    kill(job)
    count, distinct = rows(name)
    first = next(i for i, c in enumerate(ledger(name)) if c["job"] != old)
    before, first = ledger(name)[first - 1:first + 1]
    expect(distinct < count, True)
    found = {f["kind"]: f for f in reversed(findings(flink.ref(name)))}
    late, back = found["stalled_writer"], found["offset_regression"]
    expect(within_limit(late), True)
    expect([f["kind"] for f in troubles(flink.ref(name))], ["offset_regression"])
    expect((back["open"], back["snapshotId"], back["evidence"]["earlierSnapshot"]), (True, first["snapshotId"], before["snapshotId"]))
    expect(back["evidence"]["checkpoints"], first["addedFiles"])
    gap = (moment(first["committedAt"]) - moment(before["committedAt"])).total_seconds()
    return (f"silent for {gap:.0f} s, which was found when {late['evidence']['arrivals']['files']} files had come; then {first['unit']} after {before['unit']} "
            f"brought what it wrote in {back['evidence']['checkpoints']} checkpoints: {count - distinct} rows are there twice")


def within_limit(f):
    return 0 <= (moment(f["firstSeenAt"]) - moment(f["evidence"]["dueAt"])).total_seconds() <= WATCH + SLACK


def cli(*words):
    done = subprocess.run([os.environ["SLUICE_BIN"], *words, "--data", os.environ["SLUICE_DATA"]], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"sluice {' '.join(words)}: {done.stderr}")
    return done.stdout


def silence(writer_id):
    """sluice_writer_seconds_since_last_commit of a writer, None where it is not told."""
    with urllib.request.urlopen(urllib.request.Request(BOOT["governanceUri"].split("/api/")[0] + "/metrics", headers={"Authorization": f"Bearer {BOOT['token']}"})) as page:
        found = re.search(rf'^sluice_writer_seconds_since_last_commit{{[^}}]*writer="{writer_id}"[^}}]*}} (\S+)$', page.read().decode(), re.M)
    return float(found[1]) if found else None


class Stalled:
    """A stream whose table is closed while it runs, and opened again."""

    def __init__(self, name):
        self.name, self.ref, self.job, self.found = name, flink.ref(name), None, None

    def runs(self):
        self.job = flink.start("insert", self.name, 1000000, **{
            "restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "100000", "restart-strategy.fixed-delay.delay": "1s"})
        flink.committing(self.job, self.name, 8)
        expect([f["kind"] for f in findings(self.ref) if f["open"]], [])
        return f"learned cadence {writer(self.name)['cadence']['learned']}"

    def closed(self):
        cli("policy", "set", self.ref, "governed_only")
        self.found = wait("a finding", lambda: next((f for f in findings(self.ref, kind="stalled_writer") if f["open"]), None), 300)
        evidence = self.found["evidence"]
        if not within_limit(self.found):
            raise AssertionError(f"found at {self.found['firstSeenAt']}: {evidence}")
        expect((evidence["state"], evidence["writePolicy"], self.found["writerId"], self.found["severity"]), ("late", "governed_only", writer(self.name)["id"], "high"))
        if self.job.poll() is not None:
            raise AssertionError(f"the job ended with {self.job.poll()}")
        return f"due {evidence['dueAt']}, found {self.found['firstSeenAt']}: {evidence}"

    def measured(self):
        first, before = silence(writer(self.name)["id"]), commits(self.ref)
        time.sleep(5)
        second = silence(writer(self.name)["id"])
        expect(commits(self.ref), before)
        if not first + 3 <= second:
            raise AssertionError(f"{first}, then {second}")
        expect(writer(self.name)["state"], "late")
        return f"{first:.0f} s, then {second:.0f} s"

    def opened(self):
        before = commits(self.ref)
        cli("policy", "set", self.ref, "open_full")
        wait("a commit", lambda: commits(self.ref) > before, 300)
        resolved = wait("the finding resolves itself", lambda: next((f for f in findings(self.ref) if f["id"] == self.found["id"] and not f["open"]), None), 60)
        return f"resolved by {resolved['resolvedBy']}: {resolved['note']}"

    def retired(self):
        self.job.send_signal(signal.SIGTERM)
        self.job.wait(60)
        cli("writers", "retire", writer(self.name)["id"], "--note", "the job was cancelled")
        before = {f["id"] for f in findings(self.ref)}
        time.sleep(15)
        expect([f["kind"] for f in findings(self.ref) if f["open"] or f["id"] not in before], [])
        expect(wait("the metric goes", lambda: silence(writer(self.name)["id"]) is None, 60), True)
        count, distinct = rows(self.name)
        return f"state {writer(self.name)['state']}, {count} rows, {distinct} of them different"


steps.run("create namespace", lambda: call("POST", namespace_uri(), {"namespace": [NS]}) and None, must=True)
for sink in SINKS:
    made(f"insert_{sink}")
    steps.run(f"healthy, sink {sink}: an insert goes on from its latest checkpoint", lambda: restored("insert", f"insert_{sink}", sink, (ROWS, ROWS)))
    made(f"upsert_{sink}", ("id", "long"), ("n", "long"), key=("id",))
    steps.run(f"healthy, sink {sink}: an upsert goes on from its latest checkpoint", lambda: restored("upsert", f"upsert_{sink}", sink, (100, 100)))
    made(f"afresh_{sink}")
    steps.run(f"healthy, sink {sink}: a job starts afresh on the table of another", lambda: afresh(f"afresh_{sink}", sink))
made("bounded")
steps.run("healthy: bounded inserts one after the other", lambda: bounded("bounded"))
made("replayed")
steps.run("replay, sink v2: a job goes on from an old checkpoint and commits twice", lambda: replayed("replayed"))
made("skipped")
steps.run("replay, sink v1: a job goes on from an old checkpoint and is silent", lambda: skipped("skipped"))
made("stalled")
stalled = Stalled("stalled")
steps.run("stall: a stream commits", stalled.runs, must=True)
steps.run("stall: its table is closed, and it is found in time", stalled.closed, must=True)
steps.run("stall: the metric grows", stalled.measured)
steps.run("stall: the table is opened, the job commits, the finding is resolved", stalled.opened)
steps.run("stall: the job is cancelled and its writer retired", stalled.retired)
steps.run("each commit is reconciled once", lambda: all_governed(NS))
steps.run("drop everything", lambda: drop_all(NS))
steps.finish()
