"""Flink's everyday work, then jobs that are killed with -9 and go on from their checkpoint: each row once, each commit reconciled."""
import glob
import os
import subprocess
import time

from connection import properties
from product import BOOT, all_governed, commits, create_table, drop_all, governed, set_policy
from steps import Steps, expect

NS, WORK, HOME = "smoke_flink", os.environ["ENGINE_WORK"], os.environ["FLINK_HOME"]
ROWS, KEYS = 3000, 100
steps = Steps("flink 1.20")
lake = os.path.join(WORK, "lake.properties")
with open(os.open(lake, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
    f.writelines(f"{k}={v}\n" for k, v in properties("flink").items())
# The packages that Flink's own launcher opens; without java.nio the sink's messages cannot be serialised on Java 17, and every commit fails.
OPENS = [f"--add-opens=java.base/java.{p}=ALL-UNNAMED" for p in (
    "lang", "lang.reflect", "net", "io", "nio", "text", "time", "util", "util.concurrent", "util.concurrent.atomic", "util.concurrent.locks")]


def java(main, *args, **more):
    command = ["java", f"-Xmx{os.environ.get('FLINK_HEAP', '1g')}", *OPENS, "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
               f"-Dorg.slf4j.simpleLogger.defaultLogLevel={os.environ.get('FLINK_LOG', 'off')}",
               "-cp", os.pathsep.join([os.path.join(WORK, "classes"), os.path.join(HOME, "lib", "*")]), f"sluice.{main}", *args]
    log = open(os.path.join(WORK, f"{main}-{time.time():.0f}.log"), "w")
    return steps.started(subprocess.Popen(command, env={**os.environ, "LAKE_PROPERTIES": lake, "NAMESPACE": NS}, stderr=log, text=True, **more))


def query(sql):
    out, _ = java("Query", sql, stdout=subprocess.PIPE).communicate(timeout=300)
    return out.strip()


def ref(name):
    return f"{BOOT['catalog']}.{NS}.{name}"


def checkpoint(name):
    found = glob.glob(os.path.join(WORK, f"checkpoints-{name}", "*", "chk-*", "_metadata"))
    if not found:
        raise AssertionError("no checkpoint was completed")
    return os.path.dirname(max(found, key=os.path.getmtime))


def killed(kind, name, *restore):
    before = commits(ref(name))
    job = java("Stream", kind, name, str(ROWS), *restore)
    end = time.time() + 240
    while commits(ref(name)) < before + 3:
        if job.poll() is not None or time.time() > end:
            raise AssertionError(f"{commits(ref(name)) - before} commits, exit {job.poll()}")
        time.sleep(0.3)
    job.kill()
    job.wait()
    return f"killed after {commits(ref(name)) - before} commits"


def restarted(kind, name, want):
    expect(java("Stream", kind, name, str(ROWS), checkpoint(name)).wait(timeout=300), 0)
    expect(query(f"SELECT count(*), count(DISTINCT id), sum(n) FROM DB.{name}"), want)
    found, made = governed(ref(name))
    return f"{want} as count, distinct and sum; {made} commits, row count {found['rowCount']}"


steps.run("everyday work", lambda: expect(java("Smoke").wait(timeout=1500), 0))
for kind, want in (("insert", f"+I[{ROWS}, {ROWS}, {ROWS * (ROWS + 1) // 2}]"),
                   ("upsert", f"+I[{KEYS}, {KEYS}, {sum(range(ROWS - KEYS + 1, ROWS + 1))}]")):
    name = f"{kind}s"
    steps.run(f"{kind}: create table", lambda: create_table(NS, name, ("id", "long"), ("n", "long"), key=("id",) if kind == "upsert" else ()), must=True)
    if kind == "insert":
        steps.run(f"{kind}: open the table to appends alone", lambda: set_policy(ref(name), "open_append") and None)
    steps.run(f"{kind}: a running job is killed", lambda: killed(kind, name), must=True)
    steps.run(f"{kind}: it goes on from its checkpoint and is killed again", lambda: killed(kind, name, checkpoint(name)), must=True)
    steps.run(f"{kind}: it goes on and ends: rows exactly once", lambda: restarted(kind, name, want))
steps.run("each commit is reconciled once", lambda: all_governed(NS))
steps.run("drop everything", lambda: drop_all(NS))
steps.finish()
