"""A Spark session as `sluice connect spark` configures it, with the jars that are installed here."""
import glob
import os

from pyspark.sql import SparkSession

from connection import properties

WORK = os.environ["ENGINE_WORK"]


def session(app):
    b = (SparkSession.builder.master("local[2]").appName(app)
         .config("spark.jars", ",".join(sorted(glob.glob(os.path.join(os.environ["SPARK_JARS_DIR"], "*.jar")))))
         .config("spark.driver.memory", os.environ.get("SPARK_MEMORY", "1g"))
         .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
         .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").config("spark.sql.shuffle.partitions", "2")
         .config("spark.sql.warehouse.dir", os.path.join(WORK, "spark-warehouse"))
         .config("spark.log.level", os.environ.get("SPARK_LOG", "OFF"))
         .config("spark.sql.catalog.lake.cache-enabled", "false"))
    for name, value in properties("spark").items():
        b = b.config(name, value)
    return b.getOrCreate()
