"""Flink jobs as the checks run them: each is a process with a cluster of its own, which is killed and goes on from a checkpoint."""
import os
import re
import subprocess
import time

from connection import properties
from product import BOOT, commits
from steps import expect

WORK, HOME = os.environ["ENGINE_WORK"], os.environ["FLINK_HOME"]
# The packages that Flink's own launcher opens; without java.nio the sink's messages cannot be serialised on Java 17, and every commit fails.
OPENS = [f"--add-opens=java.base/java.{p}=ALL-UNNAMED" for p in (
    "lang", "lang.reflect", "net", "io", "nio", "text", "time", "util", "util.concurrent", "util.concurrent.atomic", "util.concurrent.locks")]


class Streams:
    """The jobs of one namespace. Settings of Flink are given by name, such as parallelism.default=1."""

    def __init__(self, namespace, steps):
        self.namespace, self.steps = namespace, steps
        self.lake = os.path.join(WORK, "lake.properties")
        with open(os.open(self.lake, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
            f.writelines(f"{k}={v}\n" for k, v in properties("flink").items())

    def ref(self, name):
        return f"{BOOT['catalog']}.{self.namespace}.{name}"

    def java(self, main, *args, **more):
        command = ["java", f"-Xmx{os.environ.get('FLINK_HEAP', '1g')}", *OPENS, "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
                   f"-Dorg.slf4j.simpleLogger.defaultLogLevel={os.environ.get('FLINK_LOG', 'off')}",
                   "-cp", os.pathsep.join([os.path.join(WORK, "classes"), os.path.join(HOME, "lib", "*")]), f"sluice.{main}", *args]
        log = open(os.path.join(WORK, f"{main}-{time.time():.0f}.log"), "w")
        return self.steps.started(subprocess.Popen(
            command, env={**os.environ, "LAKE_PROPERTIES": self.lake, "NAMESPACE": self.namespace}, stderr=log, text=True, **more))

    def query(self, sql):
        out, _ = self.java("Query", sql, stdout=subprocess.PIPE).communicate(timeout=300)
        return out.strip()

    def start(self, kind, name, rows, restore=None, **settings):
        """A job that counts over rows, such as 300 or 301-600, from where the checkpoint left off."""
        if restore:
            settings["execution.state-recovery.path"] = restore
        return self.java("Stream", kind, name, str(rows), *(f"{k}={v}" for k, v in settings.items()))

    def end(self, *job, within=300, **settings):
        """Runs a job to its end."""
        expect(self.start(*job, **settings).wait(timeout=within), 0)

    def committing(self, job, name, more, within=300):
        """Waits until a running job has made as many commits more, and gives how many there are then."""
        before, end = commits(self.ref(name)), time.time() + within
        while (made := commits(self.ref(name)) - before) < more:
            if job.poll() is not None or time.time() > end:
                raise AssertionError(f"{made} commits, exit {job.poll()}")
            time.sleep(0.3)
        return before + made

    def checkpoints(self, name):
        """The folders of the completed checkpoints that are kept, by number; of several jobs', the latest job's."""
        top = os.path.join(WORK, f"checkpoints-{name}")
        jobs = sorted((os.path.join(top, j) for j in os.listdir(top)), key=os.path.getmtime) if os.path.isdir(top) else []
        for job in reversed(jobs):
            found = {int(m[1]): os.path.join(job, d) for d in os.listdir(job)
                     if (m := re.fullmatch(r"chk-(\d+)", d)) and os.path.exists(os.path.join(job, d, "_metadata"))}
            if found:
                return found
        raise AssertionError("no checkpoint was completed")

    def latest(self, name):
        found = self.checkpoints(name)
        return found[max(found)]


def kill(job):
    job.kill()
    job.wait()
