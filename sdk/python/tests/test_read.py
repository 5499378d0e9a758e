from datetime import datetime, timedelta, timezone

import pyarrow as pa
import pytest

import sluice
from conftest import Answer, arrow, refusal
from sluice import _client, tables

ROWS = pa.table({"id": list(range(5000)), "name": ["n%d" % (i % 7) for i in range(5000)]})


def whole(table=ROWS, **headers):
    return Answer(200, arrow(table), {"Content-Type": "application/vnd.apache.arrow.stream", "Sluice-Snapshot-Id": "42", "Sluice-Rows": str(table.num_rows), **headers})


def test_a_table_is_read(server, client):
    server.will(whole())
    got = client.read("main.sales.orders")
    assert got.to_arrow().equals(ROWS) and got.snapshot_id == 42 and len(got) == 5000
    assert got.to_pandas()["id"].sum() == got.to_polars()["id"].sum() == sum(range(5000))
    [asked] = server.requests
    assert (asked.method, asked.path) == ("POST", "/data/v1/tables/main.sales.orders/query")
    assert asked.json() == {}
    assert asked.headers["Authorization"] == "Bearer secret"
    assert asked.headers["Accept"] == "application/vnd.apache.arrow.stream"


def test_what_is_asked_for_is_sent(server, client):
    server.will(whole())
    client.read("a.b/c d", ["id"], where="id > 1", limit=3, as_of=datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=1))))
    assert server.requests[0].path == "/data/v1/tables/a.b%2Fc%20d/query"
    assert server.requests[0].json() == {"select": ["id"], "where": "id > 1", "limit": 3, "as-of": "2026-01-31T12:00:00+01:00"}
    expression = {"type": "eq", "term": "id", "value": 7}
    client.read("t", where=expression, snapshot_id=9007199254740993)
    assert server.requests[1].json() == {"filter": expression, "snapshot-id": "9007199254740993"}


@pytest.mark.parametrize("wrong", [
    {"columns": "id"}, {"limit": 0}, {"as_of": datetime(2026, 1, 31)}, {"as_of": "2026-01-31T00:00:00Z", "snapshot_id": 1},
])
def test_what_cannot_be_meant_is_not_sent(server, client, wrong):
    with pytest.raises((TypeError, ValueError)):
        client.read("t", **wrong)
    assert server.requests == []


def test_no_rows_have_a_schema(server, client):
    server.will(whole(ROWS.slice(0, 0)))
    got = client.read("t")
    assert got.num_rows == 0 and got.schema == ROWS.schema


def test_the_environment_says_where_and_who(server, monkeypatch):
    monkeypatch.setenv("SLUICE_URI", server.uri + "/api/catalog/")
    monkeypatch.setenv("SLUICE_TOKEN", "of the environment")
    server.will(whole())
    assert tables.read("t").num_rows == 5000
    assert sum(b.num_rows for b in tables.read_batches("t")) == 5000
    assert server.requests[1].path == "/data/v1/tables/t/query"
    assert {r.headers["Authorization"] for r in server.requests} == {"Bearer of the environment"}


def test_a_netrc_does_not_take_the_place_of_the_token(server, client, monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    server.will(whole())
    client.read("t")
    assert server.requests[0].headers["Authorization"] == "Bearer secret"


def test_batches_come_one_by_one(server, client):
    server.will(whole())
    with client.read_batches("t") as batches:
        assert batches.schema == ROWS.schema and batches.snapshot_id == 42
        assert [b.num_rows for b in batches] == [1000] * 5
        assert list(batches) == []
    server.will(whole())
    with client.read_batches("t") as batches:  # left early
        assert next(batches).num_rows == 1000
    with pytest.raises(StopIteration):
        next(batches)


@pytest.mark.parametrize("cut", [5, 300, 20_000, -8, -1])
def test_an_answer_that_breaks_off_is_no_short_result(server, client, cut):
    length = len(arrow(ROWS))
    broken = whole()
    broken.cut = cut % length
    server.will(broken)
    with pytest.raises(sluice.AnswerBroken):
        with client.read_batches("t") as batches:
            list(batches)
    server.requests.clear()
    server.will(broken, broken, whole())  # what nobody has seen can be asked for again
    assert client.read("t").to_arrow().equals(ROWS)
    assert len(server.requests) == 3


@pytest.mark.parametrize("table", [ROWS, pa.table({"v": pa.array([-1, 0], pa.int32())})])
def test_a_stream_without_its_end_marker_is_not_whole(server, client, table):
    """The last bytes of the second table's batch look like the marker."""
    answer = whole(table)
    answer.body = answer.body[:-8]
    server.will(answer)
    with pytest.raises(sluice.AnswerBroken):
        list(client.read_batches("t"))
    with pytest.raises(sluice.AnswerBroken):
        sluice.Client(server.uri, retries=1).read("t")


def test_something_behind_the_end_marker_is_no_answer(server, client):
    answer = whole()
    answer.body += b"more"
    server.will(answer)
    with pytest.raises(sluice.AnswerBroken):
        list(client.read_batches("t"))


def test_a_refusal_says_what_to_do(server, client):
    server.will(refusal(403, "ForbiddenException", "Column email is restricted.", **{"X-Request-Id": "r1"}))
    with pytest.raises(sluice.Forbidden, match="Column email is restricted") as e:
        client.read("t", where="email = 'a'")
    assert (e.value.status, e.value.type, e.value.request_id) == (403, "ForbiddenException", "r1")
    assert len(server.requests) == 1


class Bar:
    made = []

    def __init__(self, **options):
        self.options, self.n, self.closed = options, 0, False
        self.total = options["total"]
        Bar.made.append(self)

    def update(self, n):
        self.n += n

    def refresh(self):
        pass

    def close(self):
        self.closed = True


@pytest.fixture
def bars(monkeypatch):
    import tqdm.auto

    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    Bar.made = []
    return Bar.made


def test_a_bar_shows_how_far_a_read_is(server, client, bars):
    server.will(whole())
    client.read("t", progress=True)
    client.read("t", limit=100, progress=True)
    client.read("t", where="id > 1", progress=True)
    assert [(b.options["total"], b.n, b.closed) for b in bars] == [(5000, 5000, True), (100, 5000, True), (None, 5000, True)]


def test_a_bar_ends_full(server, client, bars):
    server.will(whole(**{"Sluice-Rows": "8000"}))  # deletes are not counted there
    client.read("t", progress=True)
    assert [(b.options["total"], b.total, b.n, b.closed) for b in bars] == [(8000, 5000, 5000, True)]


def test_notebooks_get_a_bar_on_long_reads(server, client, bars, monkeypatch):
    server.will(whole())
    client.read("t")
    assert bars == []
    monkeypatch.setattr(_client, "_in_notebook", lambda: True)
    client.read("t")
    client.read("t", progress=False)
    assert len(bars) == 1 and bars[0].options["delay"] > 0
