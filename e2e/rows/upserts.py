"""Governed upserts beside appends of PyIceberg from another process, while serve is killed: in the end the table holds what a
model says, no acknowledged commit is lost, no key is there twice, and the audit of rows is of the rows that landed.

    upserts.py [rounds]     the default is 20; kill -9 comes about every eighth round
"""
import multiprocessing
import random
import sys
import time
import uuid

import pyarrow as pa
import sluice
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

from product import Product

KEYS = 400
COLUMNS = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("origin", pa.string()), pa.field("value", pa.int64())])


def make_table(product, version):
    catalog = product.catalog()
    catalog.create_namespace_if_not_exists("rows")
    schema = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "origin", StringType()), NestedField(3, "value", LongType()), identifier_field_ids=[1])
    catalog.create_table(f"rows.v{version}", schema, properties={"format-version": str(version)})
    product.call("PUT", f"/api/governance/v1/tables/main.rows.v{version}/write-policy", {"policy": "open_append"})
    return f"rows.v{version}"


def append_governed(root, token, name, stop, told):
    """What append_until does, through the data plane: PyIceberg does not write tables of version 3."""
    at, key = 1_000_000, str(uuid.uuid4())
    while not stop.is_set():
        try:
            sluice.Client(root, token).write("main." + name, rows_of(range(at, at + 5), "append", at), idempotency_key=key)
            told.put(at)
            at, key = at + 5, str(uuid.uuid4())
        except (sluice.SluiceError, OSError):
            time.sleep(0.2)  # serve is being killed; the key makes a repeat harmless
    told.put("end")


def append_until(boot, name, stop, told):
    """Appends rows of keys of its own, each once, until it is told to stop. An append whose answer is lost is looked for."""
    from pyiceberg.catalog.rest import RestCatalog
    at, table, batch = 1_000_000, None, None
    while not stop.is_set():
        try:
            if table is None:
                table = RestCatalog("main", uri=boot["catalogUri"], warehouse=boot["catalog"], token=boot["token"]).load_table(name)
            table.refresh()
            if batch is None or not landed(table, batch):
                batch = str(uuid.uuid4())
                table.append(rows_of(range(at, at + 5), "append", at), snapshot_properties={"batch": batch})
            told.put(at)
            at, batch = at + 5, None
        except CommitFailedException:
            batch = None  # refused for certain
        except Exception:  # noqa: BLE001 - serve is being killed: whether it landed is looked up once it is back
            time.sleep(0.2)
            table = None
    if batch is not None:
        told.put(("open", at, batch))
    told.put("end")


def landed(table, batch):
    return any(s.summary and s.summary.additional_properties.get("batch") == batch for s in table.metadata.snapshots)


def rows_of(keys, origin, value):
    keys = list(keys)
    return pa.Table.from_arrays([pa.array(keys, pa.int64()), pa.array([origin] * len(keys)), pa.array([value] * len(keys), pa.int64())], schema=COLUMNS)


def upsert(product, ref, batch):
    """Sends an upsert until it is answered; the key makes repeats harmless."""
    key, deadline = str(uuid.uuid4()), time.time() + 120
    while time.time() < deadline:
        try:
            return product.rows().write(ref, batch, mode="upsert", idempotency_key=key)
        except (sluice.SluiceError, OSError) as e:
            if isinstance(e, sluice.SluiceError) and e.status is not None and e.status < 500 and e.status not in (409, 429):
                raise
            if product.process.poll() is not None:
                product.start()
            time.sleep(0.1)
    raise AssertionError("an upsert was not answered within two minutes")


def check(product, version, rounds, seed):
    rng, name = random.Random(seed), make_table(product, version)
    ref, model, writes, landed_by = "main." + name, {}, [], {}
    stop, told = multiprocessing.Event(), multiprocessing.Queue()
    target, to = (append_until, [product.boot]) if version == 2 else (append_governed, [product.root, product.boot["token"]])
    appender = multiprocessing.Process(target=target, args=(*to, name, stop, told), daemon=True)
    appender.start()
    kills = 0
    for n in range(rounds):
        keys = rng.sample(range(KEYS), rng.randint(1, 40))
        if rng.random() < 0.3:
            keys += rng.choices(keys, k=3)  # the last of a key wins
        values = [n * 1000 + i for i in range(len(keys))]
        batch = pa.Table.from_arrays([pa.array(keys, pa.int64()), pa.array(["upsert"] * len(keys)), pa.array(values, pa.int64())], schema=COLUMNS)
        if rng.random() < 0.125:
            kills += 1
            kill_soon = multiprocessing.Process(target=kill_after, args=(product.process.pid, rng.random() * 0.1))
            kill_soon.start()
        result = upsert(product, ref, batch)
        before = set(model)
        model.update(zip(keys, values))
        writes.append(result)
        for key in set(keys):
            landed_by.setdefault(key, set()).add(result.audit_id)
        assert result.rows == len(set(keys)), f"round {n}: {result}"
        assert result.updated == len(before & set(keys)), f"round {n}: {result}, {len(before & set(keys))} keys were there"
        if product.process.poll() is not None:
            product.start()
    stop.set()
    appended = drain(told, product, name)
    appender.join(60)
    assert appended, "nothing was appended"
    compare(product, ref, model, appended)
    audit(product, ref, writes)
    for key in rng.sample(sorted(landed_by), 20):
        found = product.call("POST", f"/data/v1/tables/{ref}/row-audit", {"identity": {"id": str(key)}})
        assert {item["write"]["audit-id"] for item in found["items"]} == landed_by[key], f"the writes that landed the row {key} are others"
    print(f"PASS rows: {rounds} upserts of a v{version} table with {kills} kills beside {len(appended) // 5} appends")


def kill_after(pid, seconds):
    import os
    import signal
    time.sleep(seconds)
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def drain(told, product, name):
    """The keys of the appends that were acknowledged, or turned out to have landed."""
    appended = set()
    while (item := told.get(timeout=120)) != "end":
        if isinstance(item, int):
            appended.update(range(item, item + 5))
        elif landed(product.catalog().load_table(name), item[2]):
            appended.update(range(item[1], item[1] + 5))
    return appended


def compare(product, ref, model, appended):
    got = product.rows().read(ref).to_arrow().to_pylist()
    keys = [r["id"] for r in got]
    assert len(keys) == len(set(keys)), "a key is there twice"
    assert {r["id"]: r["value"] for r in got if r["origin"] == "upsert"} == model, "upserted rows are not the model's"
    assert {r["id"] for r in got if r["origin"] == "append"} == appended, "appended rows are not those that were acknowledged"
    by_engine = product.catalog().load_table(ref.removeprefix("main.")).scan().to_arrow()
    assert sorted(by_engine["id"].to_pylist()) == sorted(keys), "PyIceberg reads other rows"


def audit(product, ref, writes):
    """Each write has the audit of exactly its rows."""
    listed, after = {}, ""
    while True:
        page = product.call("GET", f"/data/v1/tables/{ref}/writes?limit=500" + (f"&after={after}" if after else ""))
        listed.update({w["audit-id"]: w for w in page["items"] if w["mode"] == "upsert"})
        after = page.get("next")
        if not after:
            break
    assert set(listed) == {w.audit_id for w in writes}, "there are other writes in the audit than were answered"
    for w in writes:
        assert listed[w.audit_id]["rows"] == w.rows, listed[w.audit_id]
    for w in random.sample(writes, min(20, len(writes))):
        rows, after = [], ""
        while True:
            page = product.call("GET", f"/data/v1/writes/{w.audit_id}/rows?limit=1000" + (f"&after={after}" if after else ""))
            rows += page["items"]
            after = page.get("next")
            if not after:
                break
        assert len(rows) == w.rows and len({r["hash"] for r in rows}) == w.rows, f"{w}: {len(rows)} rows in the audit"


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    product = Product()
    try:
        for version in (2, 3):
            check(product, version, rounds, seed=version)
    except BaseException:
        print("FAIL rows: upserts\n" + product.log(), flush=True)
        raise
    finally:
        product.close()


if __name__ == "__main__":
    main()
