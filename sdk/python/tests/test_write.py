import io
import json
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sluice
from conftest import Answer, refusal, told
from sluice import _encode, tables

TABLE = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"]})
DONE = told(**{"audit-id": "w1", "snapshot-id": "77", "rows": 3, "updated": 1, "superseded": 0, "quarantined": 2, "quarantine-table": "main.a.b__quarantine",
               "level": "internal", "levels": {"internal": 3}, "tags": {"email": 1}})


def sent(request) -> pa.Table:
    return pa.ipc.open_stream(io.BytesIO(request.body)).read_all()


def test_a_write_says_what_it_did(server, client):
    server.will(DONE)
    did = client.write("main.a.b", TABLE, mode="upsert", label="internal", on_violation="quarantine")
    assert did == sluice.WriteResult(77, 3, 1, 0, 2, "w1", "main.a.b__quarantine", "internal", {"internal": 3}, {"email": 1})
    [asked] = server.requests
    assert asked.path == "/data/v1/tables/main.a.b/write?mode=upsert&on-violation=quarantine&label=internal"
    assert asked.headers["Content-Type"] == "application/vnd.apache.arrow.stream"
    assert sent(asked).equals(TABLE)
    UUID(asked.headers["Idempotency-Key"])


def test_nothing_in_the_table_is_no_snapshot(server, client):
    server.will(told(**{"audit-id": "w1", "snapshot-id": "0", "rows": 0}))
    assert client.write("t", TABLE).snapshot_id is None


@pytest.mark.parametrize("data", [
    TABLE, TABLE.to_batches()[0], TABLE.to_batches(max_chunksize=2), TABLE.to_reader(1), (b for b in TABLE.to_batches(max_chunksize=1)),
    TABLE.to_pandas(), pl.from_arrow(TABLE), pl.from_arrow(TABLE).lazy(), {"id": [1, 2, 3], "name": ["a", None, "c"]},
], ids=lambda d: type(d).__module__ + "." + type(d).__name__)
def test_anything_with_rows_can_be_written(server, client, data):
    server.will(Answer(cut=0), DONE)  # the first try comes to nothing: what can be read once must be sent again
    client.write("t", data)
    for request in server.requests:
        assert sent(request).to_pylist() == TABLE.to_pylist()
    assert len(server.requests) == 2


def test_dicts_are_sent_as_their_values(server, client):
    server.will(DONE)
    zone = timezone(timedelta(hours=2))
    client.write("t", [
        {"a": 2**63 - 1, "b": True, "c": 0.1, "d": float("nan"), "e": Decimal("1E+3"), "f": date(2026, 1, 31), "g": time(12, 34, 56, 7)},
        {"h": datetime(2026, 1, 31, 12), "i": datetime(2026, 1, 31, 12, tzinfo=zone), "j": UUID(int=5), "k": b"\xff\x00", "l": [1, None], "m": {"n": "é"}},
        {"o": pd.Timestamp("2026-01-31 12:00:00.000000001"), "p": pd.NaT, "q": float("-inf"), "r": pl.Series([1.5]).to_numpy()[0], "s": None},
    ])
    [asked] = server.requests
    assert asked.headers["Content-Type"] == "application/x-ndjson"
    assert [json.loads(line) for line in asked.body.splitlines()] == [
        {"a": 9223372036854775807, "b": True, "c": 0.1, "d": "NaN", "e": "1000", "f": "2026-01-31", "g": "12:34:56.000007"},
        {"h": "2026-01-31T12:00:00.000000", "i": "2026-01-31T10:00:00.000000Z", "j": "00000000-0000-0000-0000-000000000005", "k": "/wA=", "l": [1, None],
         "m": {"n": "é"}},
        {"o": "2026-01-31T12:00:00.000000001", "p": None, "q": "-Infinity", "r": 1.5, "s": None},
    ]


@pytest.mark.parametrize("data, why", [
    (7, "rows cannot be had of int"), ("text", "rows cannot be had of str"), ([{"a": 1}, 7], "row 2 is a int"), ([{1: 2}], "row 1: 1 is no name"),
    ([{"a": object()}], "row 1: a object is no value"), ([{"a": Decimal("NaN")}], "row 1: the decimal NaN"),
])
def test_what_has_no_rows_is_not_written(server, client, data, why):
    server.will(DONE)
    with pytest.raises(TypeError, match=why):
        client.write("t", data)


@pytest.mark.parametrize("wrong", [{"mode": "overwrite"}, {"on_violation": "ignore"}])
def test_words_that_nothing_means(server, client, wrong):
    with pytest.raises(ValueError):
        client.write("t", TABLE, **wrong)
    assert server.requests == []


def test_large_batches_are_cut(monkeypatch):
    monkeypatch.setattr(_encode, "BATCH_BYTES", 10_000)
    even = pa.table({"v": list(range(100_000))})
    uneven = pa.table({"v": ["x" * (200_000 if i == 500 else 1) for i in range(1000)]})
    for table in (even, uneven):
        body = _encode.body_of(table.combine_chunks())
        reader = pa.ipc.open_stream(io.BytesIO(b"".join(body.chunks())))
        batches = list(reader)
        assert pa.Table.from_batches(batches).equals(table)
        assert all(b.nbytes <= 40_000 or b.num_rows == 1 for b in batches)


def test_a_write_is_repeated_with_its_key(server, client):
    server.will(Answer(cut=0), refusal(503, "ServiceUnavailableException", "busy"), refusal(429, "SlowDownException", "slow down", **{"Retry-After": "0"}), DONE)
    assert client.write("t", TABLE).rows == 3
    assert len({r.headers["Idempotency-Key"] for r in server.requests}) == 1
    assert len({r.body for r in server.requests}) == 1 and len(server.requests) == 4
    client.write("t", TABLE)
    assert server.requests[4].headers["Idempotency-Key"] != server.requests[0].headers["Idempotency-Key"]
    client.write("t", TABLE, idempotency_key="01890a5d-ac96-774b-bcce-b302099a8057")
    assert server.requests[5].headers["Idempotency-Key"] == "01890a5d-ac96-774b-bcce-b302099a8057"


def test_wrong_rows_are_told(server, client):
    errors = [{"row": n, "field": "id", "message": "is required"} for n in range(1, 9)] + [{"row": 9, "message": "is malformed"}]
    server.will(refusal(400, "BadRequestException", "9 rows cannot be written", errors))
    with pytest.raises(sluice.Invalid) as e:
        tables_write(server)
    assert e.value.row_errors[0] == sluice.RowError(1, "id", "is required") and e.value.row_errors[8].field is None
    assert str(e.value).splitlines()[:2] == ["9 rows cannot be written", "  row 1, id: is required"]
    assert str(e.value).splitlines()[-1] == "  and 4 more in row_errors"


def tables_write(server):
    with sluice.Client(server.uri, "secret") as client:
        client.write("t", TABLE)


def test_the_module_writes_with_the_environment(server, monkeypatch):
    monkeypatch.setenv("SLUICE_URI", server.uri)
    monkeypatch.delenv("SLUICE_TOKEN", raising=False)
    server.will(DONE)
    assert tables.write("t", TABLE).audit_id == "w1"
    assert "Authorization" not in server.requests[0].headers
