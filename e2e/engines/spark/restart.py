"""A streaming query is killed with -9 between two commits or in one, and goes on from its checkpoint: each row once, each commit reconciled."""
import os
import signal
import subprocess
import sys
import time

from product import BOOT, all_governed, call, commits, create_table, drop_all, namespace_uri, set_policy
from steps import Steps, expect

NS = "restarts"
REF = f"{BOOT['catalog']}.{NS}.ticks"
here = os.path.dirname(os.path.abspath(__file__))
steps = Steps("spark restart")


def prepare():
    call("POST", namespace_uri(), {"namespace": [NS]})
    create_table(NS, "ticks", ("value", "long"), ("timestamp", "timestamptz"))
    set_policy(REF, "open_append")


def start(rows):
    return steps.started(subprocess.Popen([sys.executable, "-W", "ignore", os.path.join(here, "stream.py"), f"lake.{NS}.ticks", str(rows)],
                                          stdout=subprocess.PIPE, text=True, start_new_session=True))


def killed():
    before = commits(REF)
    query = start(1_000_000_000)
    end = time.time() + 180
    while commits(REF) < before + 3:
        if query.poll() is not None or time.time() > end:
            raise AssertionError(f"{commits(REF) - before} commits, exit {query.poll()}")
        time.sleep(0.3)
    os.killpg(query.pid, signal.SIGKILL)  # python and the JVM that it started
    query.wait()
    return f"killed after {commits(REF) - before} commits"


def finished():
    before, query = commits(REF), start(500)
    out, _ = query.communicate(timeout=300)
    expect(query.returncode, 0)
    n, distinct, last = map(int, out.split())
    expect((distinct, last + 1), (n, n))
    return f"{n} rows, each once, {commits(REF) - before} commits more"


steps.run("prepare", prepare, must=True)
steps.run("a running query is killed", killed, must=True)
steps.run("another one goes on and is killed", killed, must=True)
steps.run("a third one ends: rows exactly once", finished)
steps.run("each commit is reconciled once", lambda: all_governed(NS))
steps.run("drop everything", lambda: drop_all(NS))
steps.finish()
