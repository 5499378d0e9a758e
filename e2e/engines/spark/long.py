"""One write of three minutes with keys that live for one: a file is opened when they are new and closed when they are long dead."""
import os
import time

from pyspark.sql.types import LongType, StringType, StructField, StructType

from product import all_governed, drop_all
from session import session
from steps import Steps, expect

SECONDS, ROWS = int(os.environ.get("LONG_SECONDS", "180")), 120
steps = Steps("spark long write")
spark = steps.run("start session", lambda: session("long"), must=True)


def sql(s):
    return spark.sql(s).collect()


def slowly(partition):
    """The rows of one of two tasks, which take SECONDS to come."""
    for i in partition:
        time.sleep(SECONDS / (ROWS / 2))
        yield i, "x" * 1000


def write():
    start = time.time()
    schema = StructType([StructField("id", LongType()), StructField("text", StringType())])
    source = spark.sparkContext.parallelize(range(ROWS), 2).mapPartitions(slowly)
    spark.createDataFrame(source, schema).writeTo("lake.long.t").append()
    return f"{time.time() - start:.0f} s"


steps.run("create table", lambda: (sql("CREATE NAMESPACE lake.long"), sql("CREATE TABLE lake.long.t (id BIGINT, text STRING) USING iceberg"))[0] and None, must=True)
steps.run(f"one write of {SECONDS} s", write)
steps.run("all rows are there", lambda: expect(tuple(sql("SELECT count(*), count(DISTINCT id) FROM lake.long.t")[0]), (ROWS, ROWS)))
steps.run("each commit is reconciled once", lambda: all_governed("long"))
steps.run("drop everything", lambda: drop_all("long"))
steps.finish()
