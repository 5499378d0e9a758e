"""Flink's upserts, while Spark deletes rows of the same table, counted by both."""
import os
import re
import subprocess
import time

from connection import properties
from counted import ref, snapshots
from product import commits
from session import session
from steps import Steps

NS, WORK, HOME = "counts_flink", os.environ["ENGINE_WORK"], os.environ["FLINK_HOME"]
ROWS = 2000
steps = Steps("flink 1.20")
lake = os.path.join(WORK, "lake.properties")
with open(os.open(lake, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
    f.writelines(f"{k}={v}\n" for k, v in properties("flink").items())
OPENS = [f"--add-opens=java.base/java.{p}=ALL-UNNAMED" for p in (
    "lang", "lang.reflect", "net", "io", "nio", "text", "time", "util", "util.concurrent", "util.concurrent.atomic", "util.concurrent.locks")]


def java(main, *args, **more):
    command = ["java", f"-Xmx{os.environ.get('FLINK_HEAP', '1g')}", *OPENS, "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
               f"-Dorg.slf4j.simpleLogger.defaultLogLevel={os.environ.get('FLINK_LOG', 'off')}",
               "-cp", os.pathsep.join([os.path.join(WORK, "classes"), os.path.join(HOME, "lib", "*")]), f"sluice.{main}", *args]
    log = open(os.path.join(WORK, f"{main}-{time.time():.0f}.log"), "w")
    return steps.started(subprocess.Popen(command, env={**os.environ, "LAKE_PROPERTIES": lake, "NAMESPACE": NS}, stderr=log, text=True, **more))


spark = steps.run("start Spark", lambda: session("counts"), must=True)


def sql(text):
    return spark.sql(text).collect()


def created(name, version, partitioned):
    sql(f"CREATE TABLE lake.{NS}.{name} (id BIGINT NOT NULL, n BIGINT) USING iceberg {'PARTITIONED BY (bucket(3, id))' if partitioned else ''} TBLPROPERTIES ("
        f"'format-version'='{version}', 'write.delete.mode'='merge-on-read', 'write.delete.isolation-level'='snapshot', 'commit.retry.num-retries'='20')")
    sql(f"ALTER TABLE lake.{NS}.{name} SET IDENTIFIER FIELDS id")


def upserted(name):
    """Flink upserts a hundred keys; after each few commits Spark deletes some of them."""
    job = java("Stream", "upsert", name, str(ROWS))
    deletes, refused, seen = 0, 0, 0
    end = time.time() + 300
    while job.poll() is None and time.time() < end:
        made = commits(ref(NS, name))
        if made < seen + 2:
            time.sleep(0.5)
            continue
        seen = made
        try:
            sql(f"DELETE FROM lake.{NS}.{name} WHERE id % 10 = {deletes % 10}")
            deletes += 1
        except Exception as e:  # noqa: BLE001 - the engines conflict: the next one comes through
            refused += 1
            steps.skip(f"{name}: a delete", " ".join(str(e).split())[:120])
    if job.wait(timeout=60) or not deletes:
        raise AssertionError(f"exit {job.returncode}, {deletes} deletes")
    sql(f"DELETE FROM lake.{NS}.{name} WHERE id % 10 = 3 OR n % 17 = 0")
    return f"{deletes} deletes by Spark, {refused} lost to a conflict"


def counted(name):
    t = f"lake.{NS}.{name}"
    kept = {str(r[0]) for r in sql(f"SELECT snapshot_id FROM {t}.snapshots")}
    kinds = sql(f"SELECT content, file_format, count(*) FROM {t}.all_delete_files GROUP BY 1, 2")
    rows = len(sql(f"SELECT * FROM {t}"))
    said = snapshots(ref(NS, name), rows, lambda s: len(sql(f"SELECT * FROM {t} VERSION AS OF {s}")) if s in kept else None)
    out, _ = java("Query", f"SELECT count(*) FROM (SELECT id FROM DB.{name})", stdout=subprocess.PIPE).communicate(timeout=300)
    by_flink = int(re.search(r"\d+", out.split("[")[-1])[0])
    if by_flink != rows:
        raise AssertionError(f"Flink reads {by_flink} rows, Spark {rows}")
    return f"{said}, delete files {[tuple(k) for k in kinds]}"


steps.run("create namespace", lambda: sql(f"CREATE NAMESPACE lake.{NS}") and None, must=True)
for version in (2, 3):
    for partitioned in (False, True):
        name = f"v{version}_{'buckets' if partitioned else 'plain'}"
        steps.run(f"{name}: created", lambda: created(name, version, partitioned), must=True)
        steps.run(f"{name}: upserted", lambda: upserted(name))
        steps.run(f"{name}: counted", lambda: counted(name))
steps.finish()
