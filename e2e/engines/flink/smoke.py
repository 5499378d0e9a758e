"""Flink's everyday work, then jobs that are killed with -9 and go on from their checkpoint: each row once, each commit reconciled."""
from product import all_governed, create_table, drop_all, governed, set_policy
from steps import Steps, expect
from streams import Streams, kill

NS = "smoke_flink"
ROWS, KEYS = 3000, 100
steps = Steps("flink 1.20")
flink = Streams(NS, steps)


def killed(kind, name, *restore):
    job = flink.start(kind, name, ROWS, *restore)
    made = flink.committing(job, name, 3)
    kill(job)
    return f"killed after {made} commits"


def restarted(kind, name, want):
    flink.end(kind, name, ROWS, flink.latest(name))
    expect(flink.query(f"SELECT count(*), count(DISTINCT id), sum(n) FROM DB.{name}"), want)
    found, made = governed(flink.ref(name))
    return f"{want} as count, distinct and sum; {made} commits, row count {found['rowCount']}"


steps.run("everyday work", lambda: expect(flink.java("Smoke").wait(timeout=1500), 0))
for kind, want in (("insert", f"+I[{ROWS}, {ROWS}, {ROWS * (ROWS + 1) // 2}]"),
                   ("upsert", f"+I[{KEYS}, {KEYS}, {sum(range(ROWS - KEYS + 1, ROWS + 1))}]")):
    name = f"{kind}s"
    steps.run(f"{kind}: create table", lambda: create_table(NS, name, ("id", "long"), ("n", "long"), key=("id",) if kind == "upsert" else ()), must=True)
    if kind == "insert":
        steps.run(f"{kind}: open the table to appends alone", lambda: set_policy(flink.ref(name), "open_append") and None)
    steps.run(f"{kind}: a running job is killed", lambda: killed(kind, name), must=True)
    steps.run(f"{kind}: it goes on from its checkpoint and is killed again", lambda: killed(kind, name, flink.latest(name)), must=True)
    steps.run(f"{kind}: it goes on and ends: rows exactly once", lambda: restarted(kind, name, want))
steps.run("each commit is reconciled once", lambda: all_governed(NS))
steps.run("drop everything", lambda: drop_all(NS))
steps.finish()
