"""Governed queries against DuckDB over the same rows: every type, nulls, NaN; projections, filters, pages, time travel; and
masked columns against masks written in SQL. Of three tables: `deletes` (version 2, with the position and equality deletes
of an engine), and, with a quarter of the files and queries, `vectors` (version 3, whose deletion vectors come of upserts)
and `upgraded` (as the first, then version 3 and upserted: position deletes become vectors).

    queries.py [files] [rows of a file] [queries] [tables …]     the defaults are 20, 5000, 200 and all three
"""
import random
import sys
import time

import duckdb
import pyarrow as pa

import deletes
from product import Product
from pyiceberg.table.update import AssertTableUUID, UpgradeFormatVersionUpdate

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
FROM (SELECT i, (hash(i + {turn}) % 9007199254740991)::BIGINT AS h FROM range({start}, {end}) t(i))
"""


def generated(start, end, turn=0):
    """The query for the rows of the ids from start to end. Each turn has other values."""
    return GENERATED.format(start=start, end=end, turn=turn)


FILTERED = ["id", "n32", "n64", "f32", "f64", "d9", "d38", "flag", "day", "clock", "stamp", "seen", "region", "text"]
ALL = FILTERED + ["email", "raw", "place", "list"]


class Lake:
    """A table, and in DuckDB the same rows: as `truth`, and as `early` what they were at the snapshot."""

    version = 2

    def __init__(self, product, files, size):
        self.product, self.db, self.next = product, duckdb.connect(), 0
        self.db.execute("SET TimeZone = 'UTC'")
        name = "lake." + type(self).__name__.lower()
        self.ref, catalog = "main." + name, product.catalog()
        catalog.create_namespace_if_not_exists("lake")
        self.table = catalog.create_table(name, self.arrow(0, 1).schema, properties={"format-version": str(self.version)})
        product.call("PUT", f"/api/governance/v1/tables/{self.ref}/write-policy", {"policy": "open_full"})
        self.db.execute(f"CREATE TABLE truth AS {generated(0, 0)}")
        self.fill(files, size)

    def arrow(self, start, end):
        return self.db.execute(generated(start, end)).to_arrow_table()

    def remember(self):
        self.snapshot = self.table.refresh().current_snapshot().snapshot_id
        self.db.execute("CREATE OR REPLACE TABLE early AS FROM truth")

    def classify(self, *columns):
        self.product.cli("tables", "classify", self.ref, "internal", "--identity-columns", "id", *[w for c in columns for w in ("--column", c)])

    def upsert(self, test, turn):
        """Gives the rows of a test other values, or adds them. Returns how many were there."""
        rows = self.db.execute(f"SELECT * FROM ({generated(0, self.next, turn)}) WHERE {test}").to_arrow_table()
        there = self.db.execute("SELECT count(*) FROM truth WHERE id IN (SELECT id FROM rows)").fetchone()[0]
        self.db.execute("DELETE FROM truth WHERE id IN (SELECT id FROM rows)")
        self.db.execute("INSERT INTO truth BY NAME FROM rows")
        result = self.product.rows().write(self.ref, rows, mode="upsert")
        assert (result.rows, result.updated) == (len(rows), there), f"{result}: {len(rows)} rows were sent, {there} of them were there"
        return there

    def delete_files(self):
        """The live delete files: of each its format and how many rows it has."""
        found = self.table.refresh().inspect.delete_files()
        return found["file_format"].to_pylist(), found["record_count"].to_pylist()


class Deletes(Lake):
    """DuckDB reads the files of the table itself, and is told of the deletes."""

    def fill(self, files, size):
        self.append(files * 3 // 4, size)
        self.load()
        self.remember()
        self.delete()
        self.append(files - files * 3 // 4, size)  # after the equality deletes: they do not reach these
        self.load()

    def append(self, files, size):
        for _ in range(files):
            self.table.append(self.arrow(self.next, self.next + size))
            self.next += size

    def load(self):
        """Reads files that are not read yet, each with its name and the place of each row."""
        self.db.execute("ALTER TABLE truth ADD COLUMN IF NOT EXISTS file VARCHAR")
        self.db.execute("ALTER TABLE truth ADD COLUMN IF NOT EXISTS file_row BIGINT")
        have = {r[0] for r in self.db.execute("SELECT DISTINCT file FROM truth").fetchall()}
        paths = self.table.refresh().inspect.data_files()["file_path"].to_pylist()
        new = [p.removeprefix("file://") for p in paths if p not in have]
        rows = f"SELECT * EXCLUDE (filename, file_row_number), 'file://' || filename AS file, file_row_number AS file_row FROM read_parquet({new!r}, filename=true, file_row_number=true)"
        self.db.execute("INSERT INTO truth BY NAME " + rows)

    def delete(self):
        positions = self.db.execute("SELECT file, file_row FROM truth WHERE hash(id) % 50 = 0 ORDER BY id").fetchall()
        alone = [p for p in positions if p[0] == positions[0][0]]  # a delete file of one data file
        rest = [p for p in positions if p[0] != positions[0][0]]
        for part in (alone, rest[::2], rest[1::2]):
            deletes.delete_positions(self.table, part)
        self.db.execute("DELETE FROM truth WHERE hash(id) % 50 = 0")
        keys = self.db.execute("SELECT id FROM truth WHERE hash(id) % 61 = 1").to_arrow_table()
        deletes.delete_equal(self.table, keys)
        self.db.execute("DELETE FROM truth WHERE hash(id) % 61 = 1")
        pairs = pa.table({"n32": pa.array([7, 11, 13], pa.int32()), "region": pa.array(["north", None, "west"])})
        deletes.delete_equal(self.table, pairs)  # a NULL is equal to a NULL here
        self.db.execute("DELETE FROM truth WHERE (n32 = 7 AND region = 'north') OR (n32 = 11 AND region IS NULL) OR (n32 = 13 AND region = 'west')")


class Vectors(Lake):
    """All rows come through the data plane: PyIceberg writes no tables of version 3. It reads them, and reads the same."""

    version = 3

    def fill(self, files, size):
        self.classify("email=restricted:email")  # else the addresses are violations
        self.append(files * 3 // 4, size)
        replaced = self.upsert(f"hash(id) % 7 = 0 OR id < {size}", 1)  # of one file all rows
        self.remember()
        self.append(files - files * 3 // 4, size)
        self.next += size  # the upsert adds some of these
        replaced += self.upsert("hash(id) % 11 = 1", 2)
        formats, rows = self.delete_files()
        assert set(formats) == {"PUFFIN"} and len(formats) > files, f"{files} files and those of an upsert have the delete files {formats}"
        assert sum(rows) == replaced, f"the deletion vectors have {sum(rows)} rows, of {replaced} that were replaced"
        wrong = differing(self.db, self.table.scan().to_arrow(), "FROM truth")
        assert wrong == 0, f"{wrong} rows differ as PyIceberg reads them"

    def append(self, files, size):
        for _ in range(files):
            rows = self.arrow(self.next, self.next + size)
            self.product.rows().write(self.ref, rows)
            self.db.execute("INSERT INTO truth BY NAME FROM rows")
            self.next += size


class Upgraded(Deletes):
    """A table that has position and equality deletes of version 2 when it gets its first deletion vectors."""

    def fill(self, files, size):
        super().fill(files, size)
        self.remember()
        self.classify("email=restricted:email")
        self.table.catalog.commit_table(self.table, (AssertTableUUID(uuid=self.table.metadata.table_uuid),), (UpgradeFormatVersionUpdate(format_version=3),))
        self.upsert(f"hash(id) % 7 = 0 AND id >= {size}", 1)  # the first file has none yet
        self.upsert("hash(id) % 11 = 1", 2)  # also rows that an equality delete removed
        formats, _ = self.delete_files()
        assert "PUFFIN" in formats and formats.count("PARQUET") == 4, f"vectors are to replace the delete file of one data file: {formats}"


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


def counted(count):
    """The numbers below count. Of a long run it tells how far it is."""
    began = time.time()
    for n in range(count):
        yield n
        if count >= 100 and n % 50 == 49:
            print(f"     rows: {n + 1} of {count} after {time.time() - began:.0f} s")


def check_queries(lake, count, rng):
    queries, rows = Queries(lake.db, rng), lake.product.rows()
    total = 0
    for n in counted(count):
        where, select = queries.where(), queries.select()
        early = n % 10 == 9
        source, snapshot = ("early", lake.snapshot) if early else ("truth", None)
        got = rows.read(lake.ref, columns=select, where=where, snapshot_id=snapshot).to_arrow()
        wrong = differing(lake.db, got, f"SELECT {', '.join(select)} FROM {source} WHERE {where}")
        assert wrong == 0, f"{wrong} rows differ: SELECT {select} WHERE {where} (snapshot {snapshot})"
        total += len(got)
    print(f"PASS rows: {count} queries equal DuckDB's, {total} rows")


def check_pages(lake, count, rng):
    """Pages in the order of the identity column are the sorted rows, whatever their size."""
    lake.classify()
    queries = Queries(lake.db, rng)
    for _ in counted(count):
        where = f"n32 < {rng.choice([20, 60])} AND ({queries.where()})"
        want = [r[0] for r in lake.db.execute(f"SELECT id FROM truth WHERE {where} ORDER BY id").fetchall()]
        got, token = [], None
        while True:
            body = {"select": ["id", "region"], "where": where, "page-size": rng.choice([7, 100, 1000])}
            page = lake.product.call("POST", f"/data/v1/tables/{lake.ref}/query", body | ({"page-token": token} if token else {}))
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


def check_masks(lake, count, rng, token):
    lake.classify("email=restricted:email:partial", "text=restricted::redact", "region=confidential::truncate", "n64=confidential::null",
                  "day=confidential::truncate", "stamp=confidential::truncate")
    rows, queries = lake.product.rows(token), Queries(lake.db, rng)
    for _ in counted(count):
        where = queries.where()
        while any(f"{c} " in where for c in MASKS):
            where = queries.where()
        select = queries.select()
        got = rows.read(lake.ref, columns=select, where=where).to_arrow()
        shown = ", ".join(f"{MASKS[c]} AS {c}" if c in MASKS else c for c in select)
        wrong = differing(lake.db, got, f"SELECT {shown} FROM truth WHERE {where}")
        assert wrong == 0, f"{wrong} rows differ for the analyst: SELECT {select} WHERE {where}"
    print(f"PASS rows: {count} queries of a reader without clearance equal masks in SQL")


def check(make, files, size, count, product, token):
    began, seed = time.time(), 7
    lake = make(product, files, size)
    live = lake.db.execute("SELECT count(*) FROM truth").fetchone()[0]
    print(f"PASS rows: {lake.ref}: {files} files of {size} rows, {live} live ones, in {time.time() - began:.0f} s")
    check_queries(lake, count, random.Random(seed))
    check_pages(lake, max(count // 10, 3), random.Random(seed))
    check_masks(lake, max(count // 4, 3), random.Random(seed), token)


def main():
    files, size, count = (int(a) for a in (sys.argv[1:] + ["20", "5000", "200"][len(sys.argv) - 1:])[:3])
    few = max(files // 4, 4), size, max(count // 4, 10)
    tables = {"deletes": (Deletes, files, size, count), "vectors": (Vectors, *few), "upgraded": (Upgraded, *few)}
    sys.stdout.reconfigure(line_buffering=True)
    product = Product()
    try:
        token = product.reader("analyst", "internal", "DATA_READ")
        for name in sys.argv[4:] or tables:
            check(*tables[name], product, token)
    except BaseException:
        print("FAIL rows: queries\n" + product.log())
        raise
    finally:
        product.close()


if __name__ == "__main__":
    main()
