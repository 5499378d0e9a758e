"""A streaming query that writes what a rate source counts: stream.py TABLE ROWS. It goes on from its checkpoint, and ends when the
table holds ROWS rows more; restart.py kills it before that."""
import os
import sys
import time

from session import WORK, session

table, rows = sys.argv[1], int(sys.argv[2])
spark = session("stream")
rows += spark.table(table).count()
query = (spark.readStream.format("rate").option("rowsPerSecond", 50).load().select("value", "timestamp").writeStream.format("iceberg")
         .outputMode("append").option("checkpointLocation", os.path.join(WORK, "checkpoint-stream"))
         .trigger(processingTime="2 seconds").toTable(table))
while query.isActive and spark.table(table).count() < rows:
    time.sleep(1)
if query.exception():
    sys.exit(str(query.exception()))
query.stop()  # in the middle of a commit it makes the query fail; the rows are right all the same
n, distinct, last = spark.sql(f"SELECT count(*), count(DISTINCT value), max(value) FROM {table}").collect()[0]
print(n, distinct, last, flush=True)
os._exit(0)
