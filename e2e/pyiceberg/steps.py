"""Step runner and settings shared by the Python smokes."""
import atexit
import os
import signal
import sys
import time
import traceback


class Settings:
    uri = os.environ.get("CATALOG_URI", "http://127.0.0.1:8181/api/catalog").rstrip("/")
    warehouse = os.environ.get("WAREHOUSE", "main")
    oauth_uri = uri + "/v1/oauth/tokens"
    scope = "PRINCIPAL_ROLE:ALL"
    delegation = os.environ.get("DELEGATION", "none")

    @classmethod
    def namespace(cls, engine):
        return os.environ.get("NAMESPACE", f"smoke_{engine}")


class Steps:
    """Runs named steps in order; a failed step is reported and the rest still run unless must=True."""

    def __init__(self, engine):
        self.engine, self.passed, self.failed, self.skipped, self.children = engine, 0, 0, 0, []
        atexit.register(self.end_children)

    def started(self, process):
        """Has a process that a step starts end with the script at the latest, and whatever else is in its session if it leads one."""
        self.children.append((process, os.getsid(process.pid) == process.pid))
        return process

    def end_children(self):
        for process, leads in self.children:
            if process.poll() is not None:
                continue
            if leads:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()

    def run(self, name, fn, must=False):
        t0 = time.time()
        try:
            out = fn()
            self.passed += 1
            print(f"PASS {self.engine}: {name} ({time.time() - t0:.1f} s)" + (f" -> {' '.join(str(out).split())[:160]}" if out is not None else ""), flush=True)
            return out
        except Exception as e:  # noqa: BLE001 - a smoke reports whatever the engine raises
            self.failed += 1
            text = " ".join(str(e).split())
            print(f"FAIL {self.engine}: {name} ({time.time() - t0:.1f} s): {type(e).__name__}: {text[:700]}", flush=True)
            if os.environ.get("SMOKE_TRACE"):
                traceback.print_exc()
            if must:
                self.finish()

    def skip(self, name, why):
        self.skipped += 1
        print(f"SKIP {self.engine}: {name}: {why}", flush=True)

    def finish(self):
        self.end_children()
        tail = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {self.failed} failed{tail}", flush=True)
        sys.stdout.flush()
        os._exit(1 if self.failed else 0)


def expect(got, want):
    if got != want:
        raise AssertionError(f"got {got!r}, want {want!r}")
    return got
