"""Spark against a REST catalog: batch, MERGE, views, Structured Streaming with a checkpoint, table maintenance."""
import json
import os
import shutil
import time

from pyspark.sql import functions as F

from product import all_governed
from session import WORK as work, session
from steps import Settings as S, Steps, expect

steps = Steps("spark 4.1")
ns = S.namespace("spark")
db, C = f"lake.{ns}", "lake"


spark = steps.run("start session", lambda: session("smoke"), must=True)


def sql(s):
    return spark.sql(s).collect()


def one(s):
    return sql(s)[0][0]


def clean():
    for v in sql(f"SHOW VIEWS IN {db}"):
        if not v["isTemporary"]:
            sql(f"DROP VIEW {db}.{v['viewName']}")
    for t in sql(f"SHOW TABLES IN {db}"):
        sql(f"DROP TABLE {db}.{t['tableName']} PURGE")
    sql(f"DROP NAMESPACE {db}")


if any(r[0] == ns for r in steps.run("list namespaces", lambda: sql(f"SHOW NAMESPACES IN {C}"), must=True)):
    steps.run("drop leftovers", clean)
steps.run("create namespace", lambda: sql(f"CREATE NAMESPACE {db} WITH PROPERTIES ('team'='smoke')") and None)
steps.run("create partitioned table", lambda: sql(
    f"CREATE TABLE {db}.events (id BIGINT NOT NULL, status STRING, ts TIMESTAMP) USING iceberg PARTITIONED BY (days(ts)) TBLPROPERTIES ('format-version'='2','write.delete.mode'='merge-on-read','write.merge.mode'='merge-on-read')") and None, must=True)
spark.range(1000).selectExpr("id", "'new' AS status", "timestamp_seconds(1767225600 + id * 600) AS ts").createOrReplaceTempView("src")
steps.run("batch append", lambda: spark.table("src").writeTo(f"{db}.events").append())
steps.run("read back", lambda: expect(one(f"SELECT count(*) FROM {db}.events"), 1000))
steps.run("insert into", lambda: sql(f"INSERT INTO {db}.events VALUES (1000, 'new', TIMESTAMP '2026-01-02 00:00:00')") and None)
steps.run("merge into", lambda: (sql(f"""MERGE INTO {db}.events t USING (SELECT id + 990 AS id, 'merged' AS status, ts FROM src WHERE id < 20) s
    ON t.id = s.id WHEN MATCHED THEN UPDATE SET status = s.status WHEN NOT MATCHED THEN INSERT *"""),
    expect(one(f"SELECT count(*) FROM {db}.events WHERE status = 'merged'"), 20))[1])
steps.run("delete (merge-on-read)", lambda: (sql(f"DELETE FROM {db}.events WHERE id BETWEEN 100 AND 109"), expect(one(f"SELECT count(*) FROM {db}.events"), 1000))[1])
steps.run("delete files written", lambda: one(f"SELECT count(*) FROM {db}.events.delete_files"))
steps.run("overwrite partitions", lambda: (spark.sql(f"SELECT 5000L AS id, 'ovw' AS status, TIMESTAMP '2026-02-01 00:00:00' AS ts").writeTo(f"{db}.events").overwritePartitions(),
                                           expect(one(f"SELECT count(*) FROM {db}.events"), 1001))[1])
steps.run("evolve schema and partitioning", lambda: (sql(f"ALTER TABLE {db}.events ADD COLUMN note STRING"), sql(f"ALTER TABLE {db}.events ADD PARTITION FIELD bucket(4, id)"),
                                                     sql(f"INSERT INTO {db}.events SELECT id + 2000, status, ts, 'n' FROM src WHERE id < 8"))[0] and None)
steps.run("branch and tag", lambda: (sql(f"ALTER TABLE {db}.events CREATE TAG t1"), sql(f"ALTER TABLE {db}.events CREATE BRANCH b1"),
          sql(f"INSERT INTO {db}.events.branch_b1 VALUES (9999, 'b', TIMESTAMP '2026-01-01 00:00:00', null)"),
          expect(one(f"SELECT count(*) FROM {db}.events VERSION AS OF 'b1'") - one(f"SELECT count(*) FROM {db}.events"), 1))[-1])
steps.run("create or replace table as", lambda: (sql(f"CREATE OR REPLACE TABLE {db}.rtas USING iceberg AS SELECT * FROM {db}.events WHERE id < 10"),
          sql(f"CREATE OR REPLACE TABLE {db}.rtas USING iceberg AS SELECT id FROM {db}.events WHERE id < 20"), expect(one(f"SELECT count(*) FROM {db}.rtas"), 20))[-1])
steps.run("view", lambda: (sql(f"CREATE OR REPLACE VIEW {db}.v AS SELECT status, count(*) AS n FROM {db}.events GROUP BY status"), expect(len(sql(f"SELECT * FROM {db}.v WHERE status = 'merged'")), 1),
                           sql(f"ALTER VIEW {db}.v SET TBLPROPERTIES ('a'='b')"), [r["viewName"] for r in sql(f"SHOW VIEWS IN {db}") if not r["isTemporary"]])[-1])
# the new name is taken as it stands, without the catalog in front
steps.run("rename table", lambda: (sql(f"ALTER TABLE {db}.rtas RENAME TO {ns}.renamed"), expect(one(f"SELECT count(*) FROM {db}.renamed"), 20))[1])

sql(f"CREATE TABLE IF NOT EXISTS {db}.stream (value BIGINT, ts TIMESTAMP) USING iceberg PARTITIONED BY (hours(ts))")
chk = os.path.join(work, "checkpoint")
shutil.rmtree(chk, ignore_errors=True)


def rate(until):
    """Rate source into the table from the checkpoint on, until the table holds at least `until` rows."""
    q = (spark.readStream.format("rate").option("rowsPerSecond", 50).load().select("value", F.col("timestamp").alias("ts"))
         .writeStream.format("iceberg").outputMode("append").option("fanout-enabled", "true")
         .option("checkpointLocation", os.path.join(chk, "rate")).trigger(processingTime="2 seconds").toTable(f"{db}.stream"))
    end = time.time() + 120
    while time.time() < end and q.isActive and one(f"SELECT count(*) FROM {db}.stream") < until:
        time.sleep(1)
    if q.exception():
        raise q.exception()
    q.stop()  # may interrupt a commit half way; the checkpoint decides what the next run repeats
    n, d = sql(f"SELECT count(*), count(DISTINCT value) FROM {db}.stream")[0]
    if n < until or n != d:
        raise AssertionError(f"{n} rows, {d} distinct")
    return f"{n} rows, all distinct, {one(f'SELECT count(*) FROM {db}.stream.snapshots')} snapshots"


def files():
    """File source, one micro-batch per run: the second run must take only the new file."""
    src = os.path.join(work, "json-in")
    shutil.rmtree(src, ignore_errors=True)
    os.makedirs(src)
    sql(f"CREATE TABLE {db}.fromfiles (id BIGINT, name STRING) USING iceberg")
    for batch in range(2):
        with open(os.path.join(src, f"{batch}.json"), "w") as f:
            f.writelines(json.dumps({"id": batch * 100 + i, "name": f"n{i}"}) + "\n" for i in range(100))
        q = (spark.readStream.schema("id BIGINT, name STRING").json(src).writeStream.format("iceberg").outputMode("append")
             .option("checkpointLocation", os.path.join(chk, "files")).trigger(availableNow=True).toTable(f"{db}.fromfiles"))
        q.awaitTermination(120)
        if q.exception():
            raise q.exception()
    return expect(tuple(sql(f"SELECT count(*), count(DISTINCT id) FROM {db}.fromfiles")[0]), (200, 200))


def kafka():
    """The Kafka source, one micro-batch per run."""
    topic, boot = f"spark_{int(time.time())}", os.environ["KAFKA_BOOTSTRAP"]
    sql(f"CREATE TABLE {db}.fromkafka (id BIGINT, name STRING, part INT, off BIGINT) USING iceberg")
    for batch in range(2):
        (spark.range(batch * 100, batch * 100 + 100).selectExpr("CAST(id AS STRING) AS key", "to_json(named_struct('id', id, 'name', concat('n', id))) AS value")
         .write.format("kafka").option("kafka.bootstrap.servers", boot).option("topic", topic).save())
        src = spark.readStream.format("kafka").option("kafka.bootstrap.servers", boot).option("subscribe", topic).option("startingOffsets", "earliest").load()
        q = (src.select(F.from_json(F.col("value").cast("string"), "id BIGINT, name STRING").alias("r"), "partition", "offset")
             .selectExpr("r.id", "r.name", "partition AS part", "offset AS off").writeStream.format("iceberg").outputMode("append")
             .option("checkpointLocation", os.path.join(chk, "kafka")).trigger(availableNow=True).toTable(f"{db}.fromkafka"))
        q.awaitTermination(120)
        if q.exception():
            raise q.exception()
    return expect(tuple(sql(f"SELECT count(*), count(DISTINCT id) FROM {db}.fromkafka")[0]), (200, 200))


steps.run("streaming append, rate source", lambda: rate(100))
steps.run("streaming restarts from its checkpoint", lambda: rate(one(f"SELECT count(*) FROM {db}.stream") + 100))
steps.run("streaming append, file source, two runs", files)
steps.run("streaming append, Kafka source, two runs", kafka)


def stream_read():
    q = spark.readStream.format("iceberg").load(f"{db}.fromfiles").writeStream.format("memory").queryName("mem").option("checkpointLocation", os.path.join(chk, "read")).trigger(availableNow=True).start()
    q.awaitTermination(120)
    return one("SELECT count(*) FROM mem") if not q.exception() else str(q.exception())


steps.run("streaming read", lambda: expect(stream_read(), 200))


def call(text):
    r = sql(f"CALL {C}.system.{text}")
    return r[0].asDict() if len(r) == 1 else f"{len(r)} rows"


steps.run("rewrite_data_files", lambda: call(f"rewrite_data_files(table => '{ns}.stream', options => map('min-input-files','2'))"))
steps.run("rewrite_position_delete_files", lambda: call(f"rewrite_position_delete_files(table => '{ns}.events', options => map('rewrite-all','true'))"))
steps.run("rewrite_manifests", lambda: call(f"rewrite_manifests('{ns}.stream')"))
steps.run("expire_snapshots", lambda: call(f"expire_snapshots(table => '{ns}.stream', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)"))
steps.run("one snapshot left", lambda: expect(one(f"SELECT count(*) FROM {db}.stream.snapshots"), 1))


def orphans():
    # prefix_listing walks the table location through the catalog's FileIO, so it needs no Hadoop file system
    return call(f"remove_orphan_files(table => '{ns}.stream', older_than => TIMESTAMP '2026-01-01 00:00:00', dry_run => true, prefix_listing => true)")


steps.run("remove_orphan_files", orphans)
steps.run("rollback_to_snapshot", lambda: call(f"rollback_to_snapshot('{ns}.events', {one(f'SELECT snapshot_id FROM {db}.events.snapshots ORDER BY committed_at LIMIT 1')})"))
steps.run("each commit is reconciled once", lambda: all_governed(ns))
steps.run("drop everything", clean)
try:
    spark.stop()
except Exception:  # noqa: BLE001
    pass
steps.finish()
