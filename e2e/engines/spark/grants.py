"""Spark as a principal that may write one namespace: it appends there, by batch and by stream, and does nothing else.

With SOAK_SECONDS it then goes on loading and appending for so long, with access tokens that last minutes: no request may fail."""
import os
import time

from job import admit, prepare
from session import WORK as work, session
from steps import Steps, expect

steps = Steps("spark grants")
steps.run("root prepares two namespaces", prepare, must=True)
client = []
steps.run("the commands of the article", lambda: client.extend(admit()), must=True)


os.environ["ENGINE_CLIENT_ID"], os.environ["ENGINE_CLIENT_SECRET"] = client
spark = steps.run("start session", lambda: session("grants"), must=True)


def sql(s):
    return spark.sql(s).collect()


def refused(statement, *names):
    try:
        sql(statement)
    except Exception as e:  # noqa: BLE001 - Spark wraps the refusal in errors of its own
        missing = [n for n in names if n not in str(e)]
        if missing:
            raise AssertionError(f"the refusal does not name {missing}: {e}") from None
        return " ".join(str(e).split())[:160]
    raise AssertionError("not refused")


def append(n):
    spark.range(n).selectExpr("id", "'new' AS status", "timestamp_seconds(1767225600 + id) AS ts").writeTo("lake.events.clicks").append()


for i in range(2):
    steps.run(f"append {i + 1}", lambda: append(100), must=True)


def stream():
    query = (spark.readStream.format("rate").option("rowsPerSecond", 50).load()
             .selectExpr("coalesce(value, 0) AS id", "'stream' AS status", "timestamp AS ts").writeStream.format("iceberg").outputMode("append")
             .option("checkpointLocation", os.path.join(work, "checkpoint")).trigger(processingTime="1 second").toTable("lake.events.clicks"))
    query.awaitTermination(8)
    query.stop()
    return sql("SELECT count(*) FROM lake.events.clicks")[0][0]


steps.run("append by a stream", lambda: expect(stream() > 200, True))
first = sql("SELECT snapshot_id FROM lake.events.clicks.snapshots ORDER BY committed_at LIMIT 1")[0][0]
for what, statement, names in (
    ("create a table", "CREATE TABLE lake.events.more (id BIGINT) USING iceberg", ("TABLE_CREATE",)),
    ("create a table as select", "CREATE TABLE lake.events.more USING iceberg AS SELECT 1 AS id", ("TABLE_CREATE",)),
    ("drop the table", "DROP TABLE lake.events.clicks", ("TABLE_DROP",)),
    ("purge the table", "DROP TABLE lake.events.clicks PURGE", ("TABLE_DROP",)),
    ("rename the table", "ALTER TABLE lake.events.clicks RENAME TO lake.events.moved", ("TABLE_DROP",)),
    ("set the location", "ALTER TABLE lake.events.clicks SET LOCATION 'file:///tmp/elsewhere'", ("TABLE_SET_LOCATION",)),
    ("add a column", "ALTER TABLE lake.events.clicks ADD COLUMN n BIGINT", ("TABLE_ADD_SCHEMA",)),
    ("roll back", f"CALL lake.system.rollback_to_snapshot('events.clicks', {first})", ("open_append",)),
    ("delete rows", "DELETE FROM lake.events.clicks WHERE id = 1", ("open_append",)),
    ("create a namespace", "CREATE NAMESPACE lake.mine", ("NAMESPACE_CREATE",)),
    ("write another namespace", "INSERT INTO lake.billing.clicks VALUES (1, 'x', TIMESTAMP '2026-01-01 00:00:00')", ("billing",)),
):
    steps.run(f"it may not {what}", lambda statement=statement, names=names: refused(statement, *names))


def soak(seconds):
    end, rounds = time.time() + seconds, 0
    while time.time() < end:
        append(1)
        sql("SELECT count(*) FROM lake.events.clicks")
        rounds += 1
        time.sleep(2)
    return f"{rounds} rounds"


if os.environ.get("SOAK_SECONDS"):
    steps.run("goes on while its tokens expire", lambda: soak(int(os.environ["SOAK_SECONDS"])))
steps.finish()
