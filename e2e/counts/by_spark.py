"""Spark's row-level changes, copying and merging on read, counted snapshot by snapshot."""
from counted import ref, snapshots
from session import session
from steps import Steps

NS = "counts_spark"
steps = Steps("spark 4.1")
spark = steps.run("start session", lambda: session("counts"), must=True)
MODES = {"copy": "copy-on-write", "merge": "merge-on-read"}


def sql(text):
    return spark.sql(text).collect()


def one(text):
    return sql(text)[0][0]


def created(name, version, mode, partitioned):
    properties = {"format-version": version, "write.distribution-mode": "none", **{f"write.{what}.mode": MODES[mode] for what in ("delete", "update", "merge")}}
    stated = ", ".join(f"'{k}'='{v}'" for k, v in properties.items())
    sql(f"CREATE TABLE lake.{NS}.{name} (id BIGINT, grp INT, price DOUBLE, note STRING) USING iceberg "
        f"{'PARTITIONED BY (grp)' if partitioned else ''} TBLPROPERTIES ({stated})")


def source(first, last, note):
    return f"SELECT id, CAST(id % 4 AS INT) AS grp, id * 1.5D AS price, '{note}' AS note FROM range({first}, {last})"


def changed(name):
    t = f"lake.{NS}.{name}"
    for first in range(0, 600, 200):
        sql(f"INSERT INTO {t} {source(first, first + 200, 'new')}")
    sql(f"DELETE FROM {t} WHERE id % 7 = 0")
    sql(f"UPDATE {t} SET note = 'updated' WHERE id BETWEEN 90 AND 220")
    sql(f"MERGE INTO {t} t USING ({source(550, 700, 'merged')}) s ON t.id = s.id "
        "WHEN MATCHED AND s.id % 5 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
    sql(f"DELETE FROM {t} WHERE id IN (1, 2, 3, 201, 202)")
    sql(f"DELETE FROM {t} WHERE note = 'updated' AND id % 2 = 0")
    sql(f"ALTER TABLE {t} ADD COLUMN extra STRING")
    sql(f"INSERT INTO {t} SELECT id, CAST(id % 4 AS INT), id * 1.5D, 'late', 'x' FROM range(900, 950)")
    sql(f"DELETE FROM {t} WHERE id = 910 OR id = 10")
    sql(f"DELETE FROM {t} WHERE grp = 3")  # of a partitioned table, whole files
    sql(f"CALL lake.system.rewrite_data_files(table => '{NS}.{name}', options => map('delete-file-threshold', '1', 'min-input-files', '2'))")
    sql(f"DELETE FROM {t} WHERE id BETWEEN 300 AND 310")
    sql(f"CALL lake.system.rewrite_position_delete_files(table => '{NS}.{name}', options => map('rewrite-all', 'true'))")
    sql(f"INSERT OVERWRITE {t} SELECT id, CAST(id % 4 AS INT), id * 1.5D, 'overwritten', 'y' FROM range(0, 100)")
    sql(f"DELETE FROM {t} WHERE id < 10")


def counted(name):
    t = f"lake.{NS}.{name}"
    kept = {str(r[0]) for r in sql(f"SELECT snapshot_id FROM {t}.snapshots")}
    kinds = sql(f"SELECT content, file_format, count(*) FROM {t}.all_delete_files GROUP BY 1, 2")
    said = snapshots(ref(NS, name), len(sql(f"SELECT * FROM {t}")), lambda s: len(sql(f"SELECT * FROM {t} VERSION AS OF {s}")) if s in kept else None)
    return f"{said}, delete files {[tuple(k) for k in kinds]}"


steps.run("create namespace", lambda: sql(f"CREATE NAMESPACE lake.{NS}") and None, must=True)
for version, mode in ((1, "copy"), (2, "copy"), (2, "merge"), (3, "merge")):
    for partitioned in (False, True):
        name = f"v{version}_{mode}_{'by_grp' if partitioned else 'plain'}"
        steps.run(f"{name}: created", lambda: created(name, version, mode, partitioned))
        steps.run(f"{name}: changed", lambda: changed(name))
        steps.run(f"{name}: counted", lambda: counted(name))
steps.finish()
