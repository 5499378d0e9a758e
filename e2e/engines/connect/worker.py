"""A Kafka Connect worker that a check starts, kills and starts again, and calls."""
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
HOME = os.path.join(os.environ["ENGINES_HOME"], "kafka-connect")
GROUP = "connect"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Worker:
    """Reads the catalog's credentials from its environment, so that they are in no connector's configuration."""

    def __init__(self, work, steps):
        self.work, self.steps, self.process, self.port = work, steps, None, free_port()
        with open(os.path.join(work, "worker.properties"), "w") as f:
            f.write(f"""bootstrap.servers={os.environ['KAFKA_BOOTSTRAP']}
listeners=http://127.0.0.1:{self.port}
plugin.path={os.path.join(HOME, 'plugins')}
plugin.discovery=service_load
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
value.converter.schemas.enable=false
offset.flush.interval.ms=2000
consumer.auto.offset.reset=earliest
config.providers=env
config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider
group.id={GROUP}
config.storage.topic={GROUP}-config
offset.storage.topic={GROUP}-offsets
status.storage.topic={GROUP}-status
config.storage.replication.factor=1
offset.storage.replication.factor=1
offset.storage.partitions=1
status.storage.replication.factor=1
status.storage.partitions=1
""")

    def start(self):
        log = open(os.path.join(self.work, f"worker-{time.time():.0f}.log"), "w")
        self.process = self.steps.started(subprocess.Popen(
            ["java", f"-Xmx{os.environ.get('CONNECT_HEAP', '512m')}", f"-Dlog4j2.configurationFile={os.path.join(HERE, 'log4j2.properties')}",
             "-cp", os.path.join(HOME, "worker", "lib", "*"), "org.apache.kafka.connect.cli.ConnectDistributed",
             os.path.join(self.work, "worker.properties")], stdout=log, stderr=log))
        self.call("GET", "/connectors", within=240)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def call(self, method, path, body=None, within=90):
        """Asks until there is an answer: the port opens first, then answers 404, then 500 until the worker has joined its group."""
        end = time.time() + within
        while True:
            request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method, data=json.dumps(body).encode() if body else None,
                                             headers={"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=90) as answer:
                    raw = answer.read()
                return json.loads(raw) if raw else None
            except (urllib.error.URLError, OSError) as e:
                if self.process.poll() is not None or time.time() > end:
                    raise RuntimeError(f"{method} {path}: {e.read().decode() if hasattr(e, 'read') else e}, exit {self.process.poll()}") from None
                time.sleep(1)

    def failed_tasks(self, name):
        try:
            tasks = self.call("GET", f"/connectors/{name}/status", within=0)["tasks"]
        except RuntimeError:  # the group has not taken the connector up yet
            return []
        return [t for t in tasks if t["state"] == "FAILED"]
