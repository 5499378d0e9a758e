"""DuckDB against a REST catalog: attach with OAuth2, create, insert, change, read."""
import glob
import os
import sysconfig

import duckdb

from connection import properties, written
from product import all_governed
from steps import Settings as S, Steps, expect

steps = Steps(f"duckdb {duckdb.__version__}")
ns = S.namespace("duckdb")
con = duckdb.connect(config={"allow_unsigned_extensions": "true"})


def load_extensions():
    # the wheels carry the extension files; LOAD by path keeps DuckDB from looking for a download site
    site = sysconfig.get_paths()["purelib"]
    for name in ("httpfs", "avro", "iceberg"):
        hits = glob.glob(os.path.join(site, "duckdb_ext*", "extensions", "**", f"{name}.duckdb_extension"), recursive=True)
        con.execute(f"LOAD '{hits[0]}'")


def attach(alias="cat", **over):
    options = ", ".join(f"{k} '{v}'" for k, v in {**properties("duckdb"), **over}.items())
    con.execute(f"ATTACH '{S.warehouse}' AS {alias} (TYPE ICEBERG, {options})")


def q(sql):
    return con.execute(sql).fetchall()


def one(sql):
    return q(sql)[0][0]


def as_printed():
    lines = written("duckdb", "sluice-duckdb.sql", "duckdb").splitlines()
    con.execute("\n".join(line for line in lines if not line.startswith(("INSTALL", "LOAD"))))  # they are loaded by path here
    q("SELECT count(*) FROM duckdb_tables() WHERE database_name = 'lake'")
    con.execute("DETACH lake")


def bad():
    try:
        attach("bad", **{"TOKEN" if "TOKEN" in properties("duckdb") else "CLIENT_SECRET": "wrong"})
        q("SHOW ALL TABLES")
        q("SELECT * FROM bad.information_schema.tables")
    except Exception as e:  # noqa: BLE001
        return str(e).split("\n")[0][:120]
    raise AssertionError("a wrong credential was accepted")


steps.run("load extensions", load_extensions, must=True)
steps.run("the text of sluice connect attaches", as_printed)
steps.run("wrong credential is refused", bad)
def clean():
    # on an attachment of its own: DuckDB 1.5 remembers for its lifetime that a schema did not exist
    attach("pre")
    for s in (f"DROP TABLE pre.{ns}.ctas", f"DROP TABLE pre.{ns}.events", f"DROP SCHEMA pre.{ns}"):
        try:
            con.execute(s)
        except duckdb.Error:
            pass
    con.execute("DETACH pre")


steps.run("drop leftovers", clean)
steps.run("attach", attach, must=True)
steps.run("create schema", lambda: con.execute(f"CREATE SCHEMA IF NOT EXISTS cat.{ns}") and None)
steps.run("create table", lambda: con.execute(f"CREATE TABLE cat.{ns}.events (id BIGINT, status VARCHAR, ts TIMESTAMPTZ)") and None)
steps.run("insert", lambda: con.execute(f"INSERT INTO cat.{ns}.events SELECT i, 'new', TIMESTAMPTZ '2026-01-01 00:00:00+00' + i * INTERVAL 1 HOUR FROM range(100) t(i)") and None)
steps.run("select", lambda: expect(one(f"SELECT count(*) FROM cat.{ns}.events WHERE id >= 50"), 50))
steps.run("insert again", lambda: con.execute(f"INSERT INTO cat.{ns}.events VALUES (100, 'new', now())") and None)
steps.run("update", lambda: (con.execute(f"UPDATE cat.{ns}.events SET status = 'upd' WHERE id < 10"), expect(one(f"SELECT count(*) FROM cat.{ns}.events WHERE status = 'upd'"), 10))[1])
steps.run("delete", lambda: (con.execute(f"DELETE FROM cat.{ns}.events WHERE id >= 90"), expect(one(f"SELECT count(*) FROM cat.{ns}.events"), 90))[1])
steps.run("transaction of two inserts", lambda: (con.execute("BEGIN"), con.execute(f"INSERT INTO cat.{ns}.events VALUES (500, 'tx', now())"),
          con.execute(f"INSERT INTO cat.{ns}.events VALUES (501, 'tx', now())"), con.execute("COMMIT"),
          expect(one(f"SELECT count(*) FROM cat.{ns}.events"), 92))[-1])
steps.run("rolled-back insert leaves nothing", lambda: (con.execute("BEGIN"), con.execute(f"INSERT INTO cat.{ns}.events VALUES (600, 'tx', now())"),
          con.execute("ROLLBACK"), expect(one(f"SELECT count(*) FROM cat.{ns}.events WHERE id = 600"), 0))[-1])
steps.run("create table as", lambda: (con.execute(f"CREATE TABLE cat.{ns}.ctas AS SELECT * FROM cat.{ns}.events WHERE id < 5"), expect(one(f"SELECT count(*) FROM cat.{ns}.ctas"), 5))[1])
steps.run("snapshots", lambda: len(q(f"SELECT * FROM iceberg_snapshots(cat.{ns}.events)")))
steps.run("time travel", lambda: expect(one(f"SELECT count(*) FROM cat.{ns}.events AT (VERSION => {one(f'SELECT snapshot_id FROM iceberg_snapshots(cat.{ns}.events) ORDER BY sequence_number LIMIT 1')})"), 100))
steps.run("alter table add column", lambda: con.execute(f"ALTER TABLE cat.{ns}.events ADD COLUMN note VARCHAR") and None)
steps.run("merge into", lambda: (con.execute(f"MERGE INTO cat.{ns}.ctas t USING (SELECT 3 AS id UNION ALL SELECT 77) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET status = 'm' WHEN NOT MATCHED THEN INSERT (id, status) VALUES (s.id, 'i')"), expect(one(f"SELECT count(*) FROM cat.{ns}.ctas"), 6))[1])
steps.run("show tables", lambda: expect(sorted(r[0] for r in q(f"SELECT table_name FROM duckdb_tables() WHERE database_name = 'cat' AND schema_name = '{ns}'")), ["ctas", "events"]))
steps.run("each commit is reconciled once", lambda: all_governed(ns))
steps.run("drop tables and schema", lambda: [con.execute(s) for s in (f"DROP TABLE cat.{ns}.ctas", f"DROP TABLE cat.{ns}.events", f"DROP SCHEMA cat.{ns}")] and None)
steps.finish()
