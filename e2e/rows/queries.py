"""Governed queries against DuckDB over the same files: every type, nulls, NaN, files with each kind of delete; projections,
filters, pages, time travel; and masked columns against masks written in SQL.

    queries.py [files] [rows of a file] [queries]     the defaults are 20, 5000 and 200
"""
import random
import sys
import time

import duckdb
import pyarrow as pa

import deletes
from product import Product

GENERATED = """
SELECT i::BIGINT AS id, (h % 2000)::INTEGER AS n32,
  CASE WHEN h % 11 = 0 THEN NULL ELSE h % 1000003 - 500000 END::BIGINT AS n64,
  CASE WHEN h % 13 = 0 THEN NULL WHEN h % 17 = 0 THEN 'nan'::REAL ELSE (h % 10007)::REAL / 8 END AS f32,
  CASE WHEN h % 19 = 0 THEN 'nan'::DOUBLE WHEN h % 23 = 0 THEN -0.0::DOUBLE WHEN h % 29 = 0 THEN NULL ELSE (h % 1000003)::DOUBLE / 1024 - 300 END AS f64,
  CASE WHEN h % 31 = 0 THEN NULL ELSE ((h % 2000000) / 100.0 - 9000)::DECIMAL(9,2) END AS d9,
  ((h % 99999999977)::DECIMAL(38,10) / 7)::DECIMAL(38,10) AS d38,
  CASE WHEN h % 37 = 0 THEN NULL ELSE h % 3 = 0 END AS flag,
  CASE WHEN h % 41 = 0 THEN NULL ELSE DATE '1960-01-01' + (h % 40000)::INTEGER END AS day,
  (TIME '00:00:00' + INTERVAL (h % 86400000) MILLISECOND)::TIME AS clock,
  CASE WHEN h % 43 = 0 THEN NULL ELSE TIMESTAMP '1999-12-31 23:59:59.123456' + INTERVAL (h % 800000000) SECOND END AS stamp,
  (TIMESTAMPTZ '2001-01-01 00:00:00+00' + INTERVAL (h % 700000000) SECOND) AS seen,
  CASE WHEN h % 7 = 0 THEN NULL ELSE ['north','south','east','west','Ünïcode','','%odd_''quote'][1 + h % 7] END AS region,
  'user' || (h % 5000) || '@example' || (h % 3) || '.org' AS email,
  CASE WHEN h % 47 = 0 THEN NULL ELSE md5(i::VARCHAR) END AS text,
  encode(left(md5((i*7)::VARCHAR), (h % 9)::INTEGER)) AS raw,
  CASE WHEN h % 53 = 0 THEN NULL ELSE {{'city': 'c' || (h % 50), 'zip': (h % 90000)::INTEGER}} END AS place,
  CASE WHEN h % 59 = 0 THEN NULL ELSE [h % 5, NULL, h % 3]::BIGINT[] END AS list
FROM (SELECT i, (hash(i) % 9007199254740991)::BIGINT AS h FROM range({start}, {end}) t(i))
"""

FILTERED = ["id", "n32", "n64", "f32", "f64", "d9", "d38", "flag", "day", "clock", "stamp", "seen", "region", "text"]
ALL = FILTERED + ["email", "raw", "place", "list"]


class Lake:
    """The table, and the same rows in DuckDB, which reads the same files and is told of the same deletes."""

    def __init__(self, product, files, size):
        self.product, self.db, self.next = product, duckdb.connect(), 0
        self.db.execute("SET TimeZone = 'UTC'")
        catalog = product.catalog()
        catalog.create_namespace_if_not_exists("lake")
        self.table = catalog.create_table("lake.all", self.arrow(0, 1).schema, properties={"format-version": "2"})
        product.call("PUT", "/api/governance/v1/tables/main.lake.all/write-policy", {"policy": "open_full"})
        self.append(files * 3 // 4, size)
        self.snapshot = self.table.current_snapshot().snapshot_id
        self.load()
        self.db.execute("CREATE TABLE early AS SELECT * FROM truth")
        self.delete(size)
        self.append(files - files * 3 // 4, size)  # after the equality deletes: they do not reach these
        self.load(keep=True)

    def arrow(self, start, end):
        return self.db.execute(GENERATED.format(start=start, end=end)).to_arrow_table()

    def append(self, files, size):
        for _ in range(files):
            self.table.append(self.arrow(self.next, self.next + size))
            self.next += size

    def load(self, keep=False):
        """Reads files that are not read yet, each with its name and the place of each row."""
        have = {r[0] for r in self.db.execute("SELECT DISTINCT file FROM truth").fetchall()} if keep else set()
        paths = self.table.refresh().inspect.data_files()["file_path"].to_pylist()
        new = [p.removeprefix("file://") for p in paths if p not in have]
        rows = f"SELECT * EXCLUDE (filename, file_row_number), 'file://' || filename AS file, file_row_number AS file_row FROM read_parquet({new!r}, filename=true, file_row_number=true)"
        self.db.execute(("INSERT INTO truth " if keep else "CREATE TABLE truth AS ") + rows)

    def delete(self, size):
        positions = self.db.execute("SELECT file, file_row FROM truth WHERE hash(id) % 50 = 0").fetchall()
        half = len(positions) // 2
        for part in (positions[:half], positions[half:]):
            deletes.delete_positions(self.table, part)
        self.db.execute("DELETE FROM truth WHERE hash(id) % 50 = 0")
        keys = self.db.execute("SELECT id FROM truth WHERE hash(id) % 61 = 1").to_arrow_table()
        deletes.delete_equal(self.table, keys)
        self.db.execute("DELETE FROM truth WHERE hash(id) % 61 = 1")
        pairs = pa.table({"n32": pa.array([7, 11, 13], pa.int32()), "region": pa.array(["north", None, "west"])})
        deletes.delete_equal(self.table, pairs)  # a NULL is equal to a NULL here
        self.db.execute("DELETE FROM truth WHERE (n32 = 7 AND region = 'north') OR (n32 = 11 AND region IS NULL) OR (n32 = 13 AND region = 'west')")


class Queries:
    """Random filters, in the words that both understand."""

    def __init__(self, db, rng):
        self.db, self.rng, self.values = db, rng, {}
        every = max(db.execute("SELECT count(*) FROM truth").fetchall()[0][0] // 300, 1)
        for column in FILTERED:
            found = db.execute(f"SELECT {column}::VARCHAR FROM truth WHERE {column} IS NOT NULL AND hash(id + 1) % {every} = 0 ORDER BY id LIMIT 300")
            self.values[column] = [r[0] for r in found.fetchall()]

    def literal(self, column):
        value = self.rng.choice(self.values[column])
        if column in ("region", "text", "email"):
            return "'" + value.replace("'", "''") + "'"
        if column in ("day", "clock", "stamp", "seen"):
            kind = {"day": "DATE", "clock": "TIME", "stamp": "TIMESTAMP", "seen": "TIMESTAMPTZ"}[column]
            return f"{kind} '{value}'"
        if column in ("f32", "f64") and value in ("nan", "-nan"):
            return "12.5"
        return value

    def test(self):
        rng, column = self.rng, self.rng.choice(FILTERED)
        kind = rng.random()
        if column == "flag":
            return rng.choice(["flag = TRUE", "flag <> TRUE", "flag IS NULL", "NOT (flag = FALSE)"])
        if kind < 0.55:
            return f"{column} {rng.choice(['=', '<>', '<', '<=', '>', '>='])} {self.literal(column)}"
        if kind < 0.7:
            return f"{column} {rng.choice(['IN', 'NOT IN'])} ({', '.join(self.literal(column) for _ in range(rng.choice([1, 3, 12])))})"
        if kind < 0.8:
            low, high = self.literal(column), self.literal(column)
            return f"{column} BETWEEN {low} AND {high}"
        if kind < 0.9 or column not in ("region", "text"):
            return f"{column} IS {rng.choice(['', 'NOT '])}NULL"
        return f"{column} {rng.choice(['', 'NOT '])}LIKE '{rng.choice(['n', 'so', 'a1', '', 'Ü'])}%'"

    def where(self, depth=0):
        rng = self.rng
        if depth > 2 or rng.random() < 0.4:
            return self.test()
        if rng.random() < 0.25:
            return f"NOT ({self.where(depth + 1)})"
        return f"({self.where(depth + 1)}) {rng.choice(['AND', 'OR'])} ({self.where(depth + 1)})"

    def select(self):
        return self.rng.sample(ALL, self.rng.randint(1, 6))


def differing(db, got, sql):
    """How many rows are on one side alone. Sums of the rows' hashes tell whether that has to be counted."""
    db.register("got", got)
    try:
        row = ", ".join(f'"{name}"' for name in got.schema.names)
        sums = [db.execute(f"SELECT count(*), sum(hash({row})::HUGEINT) FROM ({side})").fetchall()[0] for side in ("SELECT * FROM got", sql)]
        if sums[0] == sums[1]:
            return 0
        return db.execute(f"SELECT (SELECT count(*) FROM (SELECT * FROM got EXCEPT ALL ({sql}))) + (SELECT count(*) FROM (({sql}) EXCEPT ALL SELECT * FROM got))").fetchall()[0][0]
    finally:
        db.unregister("got")


def check_queries(lake, count, rng):
    queries, rows = Queries(lake.db, rng), lake.product.rows()
    total = 0
    for n in range(count):
        where, select = queries.where(), queries.select()
        early = n % 10 == 9
        source, snapshot = ("early", lake.snapshot) if early else ("truth", None)
        got = rows.read("main.lake.all", columns=select, where=where, snapshot_id=snapshot).to_arrow()
        wrong = differing(lake.db, got, f"SELECT {', '.join(select)} FROM {source} WHERE {where}")
        assert wrong == 0, f"{wrong} rows differ: SELECT {select} WHERE {where} (snapshot {snapshot})"
        total += len(got)
    print(f"PASS rows: {count} queries equal DuckDB's, {total} rows")


def check_pages(lake, count, rng):
    """Pages in the order of the identity column are the sorted rows, whatever their size."""
    lake.product.cli("tables", "classify", "main.lake.all", "internal", "--identity-columns", "id")
    queries = Queries(lake.db, rng)
    for _ in range(count):
        where = f"n32 < {rng.choice([20, 60])} AND ({queries.where()})"
        want = [r[0] for r in lake.db.execute(f"SELECT id FROM truth WHERE {where} ORDER BY id").fetchall()]
        got, token = [], None
        while True:
            body = {"select": ["id", "region"], "where": where, "page-size": rng.choice([7, 100, 1000])}
            page = lake.product.call("POST", "/data/v1/tables/main.lake.all/query", body | ({"page-token": token} if token else {}))
            got += [int(r["id"]) for r in page["rows"]]
            token = page.get("next-page-token")
            if not token:
                break
        assert got == want, f"pages of {where}: {len(got)} rows, {len(want)} expected"
    print(f"PASS rows: {count} paged queries are in order and whole")


MASKS = {  # what a reader with the clearance internal gets, in SQL
    "email": "left(email, 1) || '***@' || split_part(email, '@', 2)",
    "text": "'***'",
    "region": "left(region, 3) || '***'",
    "n64": "NULL::BIGINT",
    "day": "date_trunc('year', day)::DATE",
    "stamp": "date_trunc('year', stamp)",
}


def check_masks(lake, count, rng):
    words = ["email=restricted:email:partial", "text=restricted::redact", "region=confidential::truncate", "n64=confidential::null", "day=confidential::truncate",
             "stamp=confidential::truncate"]
    lake.product.cli("tables", "classify", "main.lake.all", "internal", "--identity-columns", "id", *[w for c in words for w in ("--column", c)])
    rows, queries = lake.product.rows(lake.product.reader("analyst", "internal", "DATA_READ")), Queries(lake.db, rng)
    for _ in range(count):
        where = queries.where()
        while any(f"{c} " in where for c in MASKS):
            where = queries.where()
        select = queries.select()
        got = rows.read("main.lake.all", columns=select, where=where).to_arrow()
        shown = ", ".join(f"{MASKS[c]} AS {c}" if c in MASKS else c for c in select)
        wrong = differing(lake.db, got, f"SELECT {shown} FROM truth WHERE {where}")
        assert wrong == 0, f"{wrong} rows differ for the analyst: SELECT {select} WHERE {where}"
    print(f"PASS rows: {count} queries of a reader without clearance equal masks in SQL")


def main():
    files, size, count = (int(a) for a in (sys.argv[1:] + ["20", "5000", "200"][len(sys.argv) - 1:])[:3])
    seed, product = 7, Product()
    try:
        began = time.time()
        lake = Lake(product, files, size)
        print(f"PASS rows: {files} files of {size} rows, {lake.db.execute('SELECT count(*) FROM truth').fetchall()[0][0]} live ones, in {time.time() - began:.0f} s", flush=True)
        check_queries(lake, count, random.Random(seed))
        check_pages(lake, max(count // 10, 3), random.Random(seed))
        check_masks(lake, max(count // 4, 3), random.Random(seed))
    except BaseException:
        print("FAIL rows: queries\n" + product.log(), flush=True)
        raise
    finally:
        product.close()


if __name__ == "__main__":
    main()
