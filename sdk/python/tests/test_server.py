"""Against a real server: SLUICE_URI and SLUICE_TOKEN say which, SLUICE_CATALOG its catalog where that is not main."""
import os
import uuid
from datetime import date, datetime, time, timezone
from decimal import Decimal

import pyarrow as pa
import pytest
import requests

import sluice
from sluice import tables

URI, TOKEN = os.environ.get("SLUICE_URI"), os.environ.get("SLUICE_TOKEN")
CATALOG = os.environ.get("SLUICE_CATALOG", "main")
pytestmark = pytest.mark.skipif(not (URI and TOKEN), reason="SLUICE_URI and SLUICE_TOKEN say no server")

EVERY_TYPE = [
    ("id", "long", True), ("flag", "boolean", False), ("count", "int", False), ("ratio", "float", False), ("measure", "double", False),
    ("price", "decimal(12, 2)", False), ("day", "date", False), ("clock", "time", False), ("ts", "timestamp", False), ("tstz", "timestamptz", False),
    ("name", "string", False), ("uid", "uuid", False), ("mac", "fixed[6]", False), ("blob", "binary", False),
    ("tags", {"type": "list", "element-id": 100, "element": "string", "element-required": False}, False),
    ("attributes", {"type": "map", "key-id": 101, "key": "string", "value-id": 102, "value": "long", "value-required": False}, False),
    ("address", {"type": "struct", "fields": [
        {"id": 103, "name": "city", "type": "string", "required": True}, {"id": 104, "name": "zip", "type": "int", "required": False},
    ]}, False),
]
ROW = {
    "id": 2**62 + 1, "flag": True, "count": -7, "ratio": 0.5, "measure": 0.1, "price": Decimal("1234567890.12"), "day": date(2026, 1, 31), "clock": time(12, 34, 56, 789),
    "ts": datetime(2026, 1, 31, 12, 34, 56, 123456), "tstz": datetime(2026, 1, 31, 12, 34, 56, 123456, timezone.utc), "name": "é😀\"\n", "uid": uuid.UUID(int=7),
    "mac": b"\x00\x01\x02\x03\x04\xff", "blob": b"", "tags": ["a", None], "attributes": [("k", 2**40), ("l", None)], "address": {"city": "Rome", "zip": None},
}


@pytest.fixture(scope="module")
def catalog():
    """Asks the Iceberg REST catalog."""
    session = requests.Session()
    session.auth = lambda r: r.headers.update(Authorization=f"Bearer {TOKEN}") or r
    root = sluice.Client().uri + "/api/catalog/v1"
    config = session.get(f"{root}/config", params={"warehouse": CATALOG}, timeout=60).json()
    prefix = {**config.get("defaults", {}), **config.get("overrides", {})}.get("prefix", "")

    def ask(path, body):
        answer = session.post("/".join(p for p in (root, prefix, path) if p), json=body, timeout=60)
        assert answer.ok, answer.text
        return answer.json()

    return ask


@pytest.fixture(scope="module")
def namespace(catalog):
    name = "sdk_" + uuid.uuid4().hex[:12]
    catalog("namespaces", {"namespace": [name]})
    return name


@pytest.fixture
def table(catalog, namespace):
    """Makes a table of columns, the first of which is its key, and gives its ref."""

    def make(columns):
        name = "t_" + uuid.uuid4().hex[:12]
        fields = [{"id": n, "name": c, "type": of, "required": required} for n, (c, of, required) in enumerate(columns, 1)]
        schema = {"type": "struct", "schema-id": 0, "fields": fields, "identifier-field-ids": [1]}
        catalog(f"namespaces/{namespace}/tables", {"name": name, "schema": schema, "properties": {"format-version": "2"}})
        return f"{CATALOG}.{namespace}.{name}"

    return make


PEOPLE = [("id", "long", True), ("name", "string", False)]


def rows_of(ref, **asked):
    return sorted(tables.read(ref, **asked).to_pylist(), key=lambda r: r["id"])


def test_every_type_comes_back_as_it_went(table):
    ref = table(EVERY_TYPE)
    as_text = {**ROW, "attributes": [{"key": k, "value": v} for k, v in ROW["attributes"]]}
    did = tables.write(ref, [as_text, {"id": 2}])
    assert did.rows == 2 and did.snapshot_id and did.audit_id
    nothing = {name: None for name in ROW}
    assert rows_of(ref) == [{**nothing, "id": 2}, ROW]

    again = table(EVERY_TYPE)  # and as Arrow, of what was read
    assert tables.write(again, tables.read(ref).to_arrow()).rows == 2
    assert rows_of(again) == rows_of(ref)


def test_frames_and_readers(table):
    arrow = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"]})
    ref = table(PEOPLE)
    tables.write(ref, arrow.to_reader(1))
    assert rows_of(ref) == arrow.to_pylist()
    for frame in (tables.read(ref).to_pandas(), tables.read(ref).to_polars()):
        ref = table(PEOPLE)
        tables.write(ref, frame)
        assert rows_of(ref) == arrow.to_pylist()


def test_what_is_asked_for_is_read(table):
    ref = table(PEOPLE)
    first = tables.write(ref, pa.table({"id": list(range(100)), "name": ["n%d" % (i % 3) for i in range(100)]}))
    between = datetime.now(timezone.utc)
    second = tables.write(ref, [{"id": 1000}])
    assert [r["id"] for r in rows_of(ref, where="id >= 98")] == [98, 99, 1000]
    assert [r["id"] for r in rows_of(ref, where={"type": "lt", "term": "id", "value": 2})] == [0, 1]
    assert tables.read(ref, ["name"], where="name = 'n1'").to_arrow().to_pydict() == {"name": ["n1"] * 33}
    assert tables.read(ref, limit=7).num_rows == 7
    assert tables.read(ref, snapshot_id=first.snapshot_id).num_rows == tables.read(ref, as_of=between).num_rows == 100
    assert tables.read(ref).snapshot_id == second.snapshot_id
    assert sum(b.num_rows for b in tables.read_batches(ref)) == 101


def test_an_upsert_replaces_rows_of_the_same_key(table):
    ref = table(PEOPLE)
    tables.write(ref, [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}])
    did = tables.write(ref, [{"id": 2, "name": "x"}, {"id": 3, "name": "y"}, {"id": 3, "name": "z"}], mode="upsert")
    assert (did.rows, did.updated, did.superseded) == (2, 1, 1)
    assert rows_of(ref) == [{"id": 1, "name": "a"}, {"id": 2, "name": "x"}, {"id": 3, "name": "z"}]


def test_a_repeated_write_lands_once(table):
    ref, key = table(PEOPLE), str(uuid.uuid4())
    assert tables.write(ref, [{"id": 1}], idempotency_key=key) == tables.write(ref, [{"id": 1}], idempotency_key=key)
    assert tables.read(ref).num_rows == 1


def test_wrong_rows_are_told_and_nothing_lands(table):
    ref = table(PEOPLE)
    with pytest.raises(sluice.Invalid) as e:
        tables.write(ref, [{"id": 1}, {"name": "b"}, {"id": "x", "nme": 1}])
    assert [(r.row, r.field) for r in e.value.row_errors] == [(2, "id"), (3, "id"), (3, "nme")]
    with pytest.raises(sluice.Invalid) as e:
        tables.write(ref, pa.table({"id": pa.array([1, None], pa.int64())}))
    assert [(r.row, r.field) for r in e.value.row_errors] == [(2, "id")]
    assert tables.read(ref).num_rows == 0


def test_preview_and_profile(table):
    ref = table(PEOPLE)
    tables.write(ref, [{"id": 1, "name": "a"}, {"id": 2}])
    shown = tables.preview(ref, limit=1)
    assert [c["name"] for c in shown["columns"]] == ["id", "name"] and len(shown["rows"]) == 1
    figures = {c["name"]: c for c in tables.profile(ref)["columns"]}
    assert figures["name"]["nulls"] == 1


def test_who_may_not_see_a_table_is_told_that_there_is_none(table):
    with pytest.raises(sluice.NotFound):
        tables.read(f"{CATALOG}.nowhere.t")
    with pytest.raises(sluice.Unauthenticated):
        sluice.Client(token="wrong").read(table(PEOPLE))


def test_a_filter_that_cannot_be_read_is_told(table):
    with pytest.raises(sluice.Invalid):
        tables.read(table(PEOPLE), where="id >")
