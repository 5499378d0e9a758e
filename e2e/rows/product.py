"""A sluice of its own: started, killed and started again on one data folder, with the clients that the checks use."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request

import sluice
from pyiceberg.catalog.rest import RestCatalog

FLAGS = ["--temporal-port", "0", "--ui-port", "0", "--s3-gateway-port", "-1", "--log-level", "warn"]


class Product:
    """Runs `sluice serve` of SLUICE_BIN in a temporary folder until it is closed."""

    def __init__(self, *flags):
        self.folder = tempfile.mkdtemp(prefix="sluice-rows-")
        self.data = os.path.join(self.folder, "data")
        self.warehouse = os.path.join(self.folder, "warehouse")
        os.mkdir(self.warehouse)
        self.flags, self.process, self.listen = list(flags), None, "127.0.0.1:0"
        self.start()

    def start(self):
        boot = os.path.join(self.data, "bootstrap.json")
        before = os.stat(boot).st_mtime_ns if os.path.exists(boot) else 0
        log = open(os.path.join(self.folder, "serve.log"), "ab")
        self.process = subprocess.Popen(
            [os.environ["SLUICE_BIN"], "serve", "--data", self.data, "--listen", self.listen, "--warehouse", "file://" + self.warehouse, *FLAGS, *self.flags],
            stdout=log, stderr=log, start_new_session=True)
        log.close()
        for _ in range(1200):
            if self.process.poll() is not None:
                raise AssertionError(f"serve ended with {self.process.returncode}: {self.log()}")
            if os.path.exists(boot) and (before == 0 or self.listen != "127.0.0.1:0"):
                with open(boot) as f:
                    self.boot = json.load(f)
                if self.ready():
                    break
            time.sleep(0.05)
        else:
            raise AssertionError(f"serve is not ready after a minute: {self.log()}")
        self.root = self.boot["catalogUri"].removesuffix("/api/catalog")
        self.listen = self.root.split("//")[1]  # the same address after a restart

    def ready(self):
        try:
            root = self.boot["catalogUri"].removesuffix("/api/catalog")
            return urllib.request.urlopen(root + "/readyz", timeout=5).status == 200
        except OSError:
            return False

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
        if os.environ.get("KEEP") == "1":
            print("kept", self.folder)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        with open(os.path.join(self.folder, "serve.log"), errors="replace") as f:
            return f.read()[-4000:]

    def catalog(self, token=None):
        return RestCatalog("main", uri=self.boot["catalogUri"], warehouse=self.boot["catalog"], token=token or self.boot["token"])

    def rows(self, token=None):
        """The governed data plane as the root principal, or as whoever has the token."""
        return sluice.Client(self.root, token or self.boot["token"])

    def cli(self, *words):
        """Runs a command of the program as the root principal and gives its answer."""
        done = subprocess.run([os.environ["SLUICE_BIN"], *words, "--data", self.data, "-o", "json"], capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"sluice {' '.join(words)}: {done.stderr}")
        return json.loads(done.stdout) if done.stdout.strip() else None

    def reader(self, name, clearance, *privileges):
        """A token of a new principal with privileges on the catalog."""
        catalog = self.boot["catalog"]
        self.cli("principals", "create", name, "--clearance", clearance)
        self.cli("principal-roles", "create", name)
        self.cli("catalog-roles", "create", "--catalog", catalog, name)
        self.cli("principal-roles", "grant", "--principal", name, name)
        self.cli("catalog-roles", "grant", "--catalog", catalog, "--principal-role", name, name)
        for privilege in privileges:
            self.cli("privileges", "catalog", "grant", "--catalog", catalog, "--catalog-role", name, privilege)
        return self.cli("tokens", "mint", "--principal", name, "--catalog", catalog, "--name", name, "--expires-in", "1h")["token"]

    def call(self, method, path, body=None, token=None):
        """Asks the governance or management API: path is below the server's root."""
        request = urllib.request.Request(self.root + path, method=method, data=None if body is None else json.dumps(body).encode())
        request.add_header("Authorization", "Bearer " + (token or self.boot["token"]))
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
            return json.loads(text) if text else None
