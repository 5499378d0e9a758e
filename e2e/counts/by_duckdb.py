"""DuckDB's count of the tables that Spark wrote."""
import glob
import os
import sysconfig

import duckdb

from connection import properties
from counted import ref, total
from product import tables_of
from steps import Settings as S, Steps

NS = "counts_spark"
steps = Steps(f"duckdb {duckdb.__version__}")
con = duckdb.connect(config={"allow_unsigned_extensions": "true"})


def attach():
    # the wheels carry the extension files; LOAD by path keeps DuckDB from looking for a download site
    for name in ("httpfs", "avro", "iceberg"):
        hits = glob.glob(os.path.join(sysconfig.get_paths()["purelib"], "duckdb_ext*", "extensions", "**", f"{name}.duckdb_extension"), recursive=True)
        con.execute(f"LOAD '{hits[0]}'")
    options = ", ".join(f"{k} '{v}'" for k, v in properties("duckdb").items())
    con.execute(f"ATTACH '{S.warehouse}' AS lake (TYPE ICEBERG, {options})")


def counted(name):
    rows = con.execute(f"SELECT count(*) FROM lake.{NS}.{name}").fetchone()[0]
    total(ref(NS, name), rows)
    return f"{rows} rows"


steps.run("attach", attach, must=True)
for name in sorted(tables_of(NS)):
    steps.run(f"{name}: counted", lambda: counted(name))
steps.finish()
