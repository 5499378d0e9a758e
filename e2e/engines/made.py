"""Rows of every type that the data plane writes, as JSON has them, and the partitions that are tried."""
import base64
import datetime
import uuid

COLUMNS = [
    ("id", "long"), ("flag", "boolean"), ("n", "int"), ("f", "float"), ("x", "double"),
    ("d9", "decimal(9,2)"), ("d18", "decimal(18,4)"), ("d38", "decimal(38,10)"),
    ("day", "date"), ("at", "timestamp"), ("seen", "timestamptz"), ("name", "string"), ("u", "uuid"), ("fx", "fixed[5]"), ("bin", "binary"),
    ("place", [("street", "string"), ("zip", "int"), ("geo", [("lat", "double"), ("tags", ("list", "string"))])]),
    ("numbers", ("list", "int")), ("lines", ("list", [("sku", "string"), ("price", "decimal(12,2)")])),
    ("counts", ("map", "string", "long")), ("groups", ("map", "int", ("list", "string"))),
]
WIDE = {1: [("clock", "time")], 2: [("clock", "time")], 3: [("clock", "time"), ("ns", "timestamp_ns")]}  # DuckDB has no timestamptz_ns
TABLES = {1: ("plain", "identity"), 2: ("plain", "identity", "bucket", "truncate", "day"), 3: ("plain", "bucket", "truncate")}  # by format version
UUIDS = [str(uuid.uuid5(uuid.NAMESPACE_URL, str(i))) for i in range(9)]
BY = {
    "plain": [],
    "identity": [("name", "identity"), ("flag", "identity"), ("day", "identity")],
    "bucket": [("id", "bucket[4]"), ("name", "bucket[3]"), ("d18", "bucket[2]"), ("u", "bucket[2]"), ("bin", "bucket[2]"), ("at", "bucket[2]")],
    "truncate": [("name", "truncate[2]"), ("n", "truncate[50]"), ("d9", "truncate[1000]")],
    "day": [("at", "day"), ("seen", "month"), ("day", "year")],
}
# Values of each column that a partition is made of, in SQL. None of a UUID: Spark takes its halves for signed numbers, and leaves files unread by that, those
# that it wrote itself too.
KEYS = {
    "id": ["1", "39"], "flag": ["TRUE"], "n": ["-20", "21"], "d9": ["-12.50", "0.00"], "d18": ["1.0625"], "day": ["DATE '1969-12-30'", "DATE '2026-01-02'"],
    "at": ["TIMESTAMP '1969-12-31 23:59:59.999999'"], "seen": ["TIMESTAMP '2026-03-01 00:00:00+00:00'"], "name": ["'näme 1'", "'日本 2'", "''"],
    "bin": [],
}
DAYS = [datetime.date(1969, 12, 30), datetime.date(1970, 1, 1), datetime.date(2026, 1, 2)]
TIMES = ["1969-12-31T23:59:59.999999", "1970-01-01T00:00:00", "2026-03-01T00:00:00", "0001-01-01T00:00:01", "9999-12-31T23:59:59.999999"]
NAMES = ["näme 1", "日本 2", "", "😀 four / = %", "plain"]


def bits(i, n):
    return base64.b64encode(bytes((i * 37 + k) % 256 for k in range(n))).decode()


def made(i, round, names):
    """A row of an id as a write of its round has it. Each seventh has nothing but its id."""
    if i % 7 == 6:
        return {"id": i, **{n: None for n in names if n != "id"}}
    at = TIMES[(i + round) % 5]
    row = {
        "id": i, "flag": i % 2 == 0, "n": i - 21, "f": i / 8 - 3, "x": ["NaN", "Infinity", -0.0, i / 3, 1e300][i % 5],
        "d9": f"{(i % 5 - 2) * 6.25:.2f}", "d18": f"{i % 4 + 0.0625:.4f}", "d38": f"-1234567890123456789012345678.{i:010d}",
        "day": str(DAYS[i % 3]), "at": at, "seen": TIMES[(i + 2) % 3] + "Z", "name": NAMES[i % 5], "u": UUIDS[i % 9],
        "fx": bits(i, 5), "bin": bits(i, i % 4),
        "place": {"street": f"street {i}", "zip": None if i % 3 else i, "geo": None if i % 4 == 1 else {"lat": i / 4, "tags": [None, str(round)][: i % 3]}},
        "numbers": None if i % 5 == 2 else [i, None, round][: i % 4], "lines": [{"sku": f"s{i}", "price": f"{i}.50"}, None][: i % 3],
        "counts": [{"key": f"k{k}", "value": i if k else None} for k in range(i % 4)], "groups": [{"key": i, "value": [None, "g"]}],
        "clock": ["00:00:00", "23:59:59.999999", "10:11:12.000013"][i % 3],
        "ns": ["1969-12-31T23:59:59.999999999", "2026-01-02T03:04:05.123456789", "1970-01-01T00:00:00.000000001"][i % 3],
    }
    return {n: row[n] for n in names}
