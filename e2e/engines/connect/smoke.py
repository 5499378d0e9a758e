"""Kafka Connect's Iceberg sink: a JSON topic into a table, the worker killed with -9 while rows come in: each row once, each commit reconciled."""
import json
import os
import threading
import time

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

from connection import TOKEN, printed
from product import BOOT, all_governed, catalog, commits, drop_all, findings, governance, governed, listing, table, troubles, wait
from steps import Settings as S, Steps, expect
from worker import Worker

NS, TOPIC = "smoke_connect", "events"
REF = f"{BOOT['catalog']}.{NS}.events"
LOST = 1200  # rows that come while the sink cannot commit, in two minutes
steps = Steps("kafka connect 4.3")
cat = steps.run("catalog", catalog, must=True)
worker = Worker(os.environ["ENGINE_WORK"], steps)


def setup():
    cat.create_namespace(NS)
    cat.create_table(f"{NS}.events", Schema(NestedField(1, "id", LongType()), NestedField(2, "name", StringType())))


def produce(first, count, each=0.0):
    p = Producer({"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP"]})
    for i in range(first, first + count):
        p.produce(TOPIC, key=str(i), value=json.dumps({"id": i, "name": f"n{i}"}))
        if each:
            p.poll(0)
            time.sleep(each)
    p.flush(60)


def connector(name, target, **more):
    """What `sluice connect` prints, for this topic and table; the worker fills the secrets in."""
    config = {**printed("kafka-connect", S.delegation, TOKEN not in os.environ)["properties"], "topics": TOPIC, "iceberg.tables": f"{NS}.{target}",
              "iceberg.control.topic": f"control-{name}", "iceberg.control.commit.interval-ms": "5000",
              "iceberg.control.commit.timeout-ms": "30000", "iceberg.kafka.bootstrap.servers": os.environ["KAFKA_BOOTSTRAP"], **more}
    worker.call("PUT", f"/connectors/{name}/config", config, within=180)


def ids(target):
    try:
        return cat.load_table(f"{NS}.{target}").scan(selected_fields=("id",)).to_arrow()["id"].to_pylist()
    except NoSuchTableError:
        return []


def arrived(name, target, want, within=300):
    end = time.time() + within
    got = ids(target)
    while len(got) < want and time.time() < end:
        failed = worker.failed_tasks(name)
        if failed:
            raise AssertionError(f"the task failed: {json.dumps(failed)[-600:]}")
        time.sleep(2)
        got = ids(target)
    expect((len(got), len(set(got))), (want, want))
    return f"{want} rows, each once"


def killed(first):
    """Rows come in for some 25 s; the worker dies after the next commit in that time, and another one takes over."""
    coming = threading.Thread(target=produce, args=(first, 1000, 0.025))
    coming.start()
    before, end = commits(REF), time.time() + 120
    while commits(REF) == before and time.time() < end:
        time.sleep(0.2)
    worker.kill()
    made = commits(REF) - before
    worker.start()
    coming.join()
    if not made:
        raise AssertionError("no commit in two minutes")
    return f"{made} commits before it was killed"


steps.run("namespace and table", setup, must=True)
steps.run("produce 500", lambda: produce(0, 500), must=True)
steps.run("start worker", worker.start, must=True)
steps.run("plugin is listed", lambda: expect([p["class"] for p in worker.call("GET", "/connector-plugins") if "iceberg" in p["class"]],
                                             ["org.apache.iceberg.connect.IcebergSinkConnector"]))
steps.run("create connector", lambda: connector("sink", "events"), must=True)
steps.run("its configuration holds no secret", lambda: expect(BOOT["clientSecret"] in json.dumps(worker.call("GET", "/connectors/sink")), False))
steps.run("500 rows arrive", lambda: arrived("sink", "events", 500))
steps.run("the snapshot names the Kafka offsets", lambda: {
    k: v for k, v in cat.load_table(f"{NS}.events").current_snapshot().summary.additional_properties.items() if "kafka.connect.offsets" in k} or 1 / 0)
for i in range(2):
    steps.run(f"worker killed and started again, {i + 1}", lambda: killed(500 + 1000 * i), must=True)
    steps.run(f"rows exactly once, {i + 1}", lambda: arrived("sink", "events", 1500 + 1000 * i))
steps.run("each commit is reconciled once", lambda: f"{governed(REF)[1]} commits")


def known():
    """One writer, whichever worker ran it: the group on its control topic."""
    found = listing("/writers", table=table(REF)["uuid"])
    expect([(w["kind"], w["key"], w["commits"]) for w in found], [("kafka-connect", "connect-sink/control-sink", commits(REF))])
    if not found[0]["watermark"] or max(found[0]["watermark"].values()) < 1:
        raise AssertionError(found[0])
    expect(troubles(REF), [])
    return f"watermark {found[0]['watermark']}, commits every {found[0]['cadence']['learned']}"


def lost():
    """The control topic is lost. The sink writes on, and drops what it hears of its files, because the offsets are lower than the table's."""
    governance("PUT", f"/writers/{listing('/writers', table=table(REF)['uuid'])[0]['id']}", {"every": "1m"})
    worker.kill()
    admin = AdminClient({"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP"]})
    admin.delete_topics(["control-sink"])["control-sink"].result()
    worker.start()
    before = commits(REF)
    coming = threading.Thread(target=produce, args=(2500, LOST, 0.1), daemon=True)
    coming.start()
    found = wait("a finding", lambda: next((f for f in findings(REF, open="true") if f["kind"] == "stalled_writer"), None), 240)
    expect(commits(REF), before)
    arrivals = found["evidence"]["arrivals"]
    if not arrivals["files"]:
        raise AssertionError(found["evidence"])
    coming.join()
    return f"stalled_writer: {arrivals['files']} files came without a commit; {found['evidence']['remedy'][:60]}"


steps.run("the writer is known by its group and control topic, and nothing was found", known)
steps.run("the control topic is lost: files come and no commit, which is found", lost)
steps.run("delete connector", lambda: worker.call("DELETE", "/connectors/sink"))


def auto_create():
    connector("auto", "autocreated", **{"iceberg.tables.auto-create-enabled": "true"})
    return arrived("auto", "autocreated", 2500 + LOST)


steps.run("table created by the sink", auto_create)
steps.run("delete second connector", lambda: worker.call("DELETE", "/connectors/auto"))
steps.run("stop worker", worker.kill)
steps.run("each commit of all is reconciled once", lambda: all_governed(NS))
steps.run("drop everything", lambda: drop_all(NS))
steps.finish()
