"""The tables that the checks write."""
import datetime as dt

import pyarrow as pa
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import DayTransform
from pyiceberg.types import LongType, NestedField, StringType, TimestamptzType

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True), NestedField(2, "status", StringType()),
    NestedField(3, "ts", TimestamptzType()))
BY_DAY = PartitionSpec(PartitionField(source_id=3, field_id=1000, transform=DayTransform(), name="ts_day"))
_START = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)


def rows(ids, status="new"):
    """One row an hour, so that 24 of them make a day's partition."""
    ids = list(ids)
    return pa.table({
        "id": pa.array(ids, pa.int64()),
        "status": pa.array([status] * len(ids), pa.string()),
        "ts": pa.array([_START + dt.timedelta(hours=i) for i in ids], pa.timestamp("us", tz="UTC")),
    }, schema=pa.schema([
        pa.field("id", pa.int64(), nullable=False), pa.field("status", pa.string()),
        pa.field("ts", pa.timestamp("us", tz="UTC"))]))


def count(table):
    return table.scan().to_arrow().num_rows
