"""DuckDB reads the tables that the data plane wrote, and those that Spark and the data plane changed, row by row like a governed query."""
import glob
import os
import sysconfig

import duckdb

from connection import properties
from governed import comparable, query, ref, same
from product import tables_of
from steps import Settings as S, Steps

steps = Steps(f"duckdb {duckdb.__version__} rows")
con = duckdb.connect(config={"allow_unsigned_extensions": "true"})


def attach():
    # the wheels carry the extension files; LOAD by path keeps DuckDB from looking for a download site
    for name in ("httpfs", "avro", "iceberg"):
        hits = glob.glob(os.path.join(sysconfig.get_paths()["purelib"], "duckdb_ext*", "extensions", "**", f"{name}.duckdb_extension"), recursive=True)
        con.execute(f"LOAD '{hits[0]}'")
    con.execute("SET TimeZone = 'UTC'")
    options = ", ".join(f"{k} '{v}'" for k, v in properties("duckdb").items())
    con.execute(f"ATTACH '{S.warehouse}' AS lake (TYPE ICEBERG, {options})")


def equal(namespace, name):
    answer, fields = query(ref(namespace, name))
    # Python has neither the years nor the nanoseconds of all times, and only keys of maps that it can hash
    times = ", ".join(f'CAST("{f["name"]}" AS VARCHAR) AS "{f["name"]}"' for f in fields if str(f["type"]).startswith("time"))
    got = con.execute(f"SELECT * {f'REPLACE ({times})' if times else ''} FROM lake.{namespace}.{name}")
    names = [c[0] for c in got.description]
    return f"{same(comparable([dict(zip(names, r)) for r in got.fetchall()], fields), answer, 'DuckDB')} rows"


steps.run("attach", attach, must=True)
for namespace in ("rows", "changes"):
    for name in sorted(tables_of(namespace)):
        steps.run(f"{name}: DuckDB reads the same", lambda: equal(namespace, name))
steps.finish()
