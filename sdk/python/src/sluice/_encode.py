"""Rows on their way to the server."""
from __future__ import annotations

import base64
import json
import math
import tempfile
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timezone
from decimal import Decimal
from itertools import chain
from typing import Any, Callable, Iterator, List, Optional
from uuid import UUID

import pyarrow as pa

ARROW = "application/vnd.apache.arrow.stream"
NDJSON = "application/x-ndjson"

BATCH_BYTES = 4 << 20  # of a record batch, about: the server takes batches one by one
LINES_BYTES = 256 << 10


class Body:
    """What a write sends. It can be sent again."""

    def __init__(self, content_type: str, chunks: Callable[[], Iterator[bytes]]) -> None:
        self.content_type = content_type
        self.chunks = chunks


def body_of(data: Any) -> Body:
    """The body of anything that has rows."""
    if isinstance(data, pa.Table):
        return _arrow(data.schema, lambda: iter(data.to_batches()))
    if isinstance(data, pa.RecordBatch):
        return _arrow(data.schema, lambda: iter([data]))
    if isinstance(data, pa.RecordBatchReader):
        return _spooled(data.schema, data)
    kind = type(data).__module__.split(".")[0]
    if kind == "pandas" and hasattr(data, "columns"):
        return body_of(pa.Table.from_pandas(data, preserve_index=False))
    if kind == "polars":
        return body_of((data.collect() if hasattr(data, "collect") else data).to_arrow())
    if hasattr(data, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(data)
        return _spooled(reader.schema, reader)
    if isinstance(data, Mapping):
        return body_of(pa.table(dict(data)))
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        return _of_items(data)
    raise TypeError(f"rows cannot be had of {type(data).__name__}: give an Arrow table, a DataFrame or a list of dicts")


def _of_items(data: Iterable[Any]) -> Body:
    """The body of record batches, or of dicts that have a row each."""
    items = iter(data)
    first = next(items, None)
    if isinstance(first, pa.RecordBatch):
        if isinstance(data, (list, tuple)):
            return _arrow(first.schema, lambda: iter(data))
        return _spooled(first.schema, chain([first], items))
    rows = data if isinstance(data, list) else [] if first is None else [first, *items]
    for n, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {n} is a {type(row).__name__}: give dicts of column names and values, or Arrow record batches")
    return Body(NDJSON, lambda: _lines(rows))


def _arrow(schema: pa.Schema, batches: Callable[[], Iterator[pa.RecordBatch]]) -> Body:
    return Body(ARROW, lambda: _stream(schema, batches()))


class _Sink:
    """A file that keeps what is written to it until it is taken."""

    closed = False

    def __init__(self) -> None:
        self.parts: List[bytes] = []

    def write(self, data: Any) -> int:
        self.parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def take(self) -> bytes:
        taken, self.parts = b"".join(self.parts), []
        return taken


def _stream(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """An Arrow stream of batches that are small enough for a server."""
    sink = _Sink()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            for part in _cut(batch):
                writer.write_batch(part)
                yield sink.take()
    yield sink.take()


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    if batch.num_rows == 0:
        return
    rows = max(1, int(batch.num_rows * BATCH_BYTES / max(batch.nbytes, 1)))
    for start in range(0, batch.num_rows, rows):
        part = batch.slice(start, rows)
        if part.num_rows > 1 and part.nbytes > 4 * BATCH_BYTES:  # some rows are much larger than the others
            half = part.num_rows // 2
            yield from _cut(part.slice(0, half))
            yield from _cut(part.slice(half))
        else:
            yield part


def _spooled(schema: pa.Schema, reader: Iterable[pa.RecordBatch]) -> Body:
    """The body of something that can be read once, kept in a temporary file so that it can be sent again."""
    file = tempfile.TemporaryFile(prefix="sluice-")
    for chunk in _stream(schema, reader):
        file.write(chunk)

    def chunks() -> Iterator[bytes]:
        file.seek(0)
        while True:
            chunk = file.read(BATCH_BYTES)
            if not chunk:
                return
            yield chunk

    return Body(ARROW, chunks)


def _lines(rows: List[Mapping[str, Any]]) -> Iterator[bytes]:
    gathered, size = [], 0
    for n, row in enumerate(rows, 1):
        try:
            line = json.dumps(_json(row), ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass") + b"\n"
        except TypeError as e:
            raise TypeError(f"row {n}: {e}") from None
        gathered.append(line)
        size += len(line)
        if size >= LINES_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    if gathered:
        yield b"".join(gathered)


def _json(value: Any) -> Any:
    """A value as the server takes it in JSON."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Mapping):
        return {_name(k): _json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(v) for v in value]
    if isinstance(value, datetime) and value != value:  # NaT of pandas
        return None
    written = _written(value)
    if written is not None:
        return written
    if hasattr(value, "tolist"):  # of numpy
        return _json(value.tolist())
    raise TypeError(f"a {type(value).__name__} is no value of a table")


def _name(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{key!r} is no name of a column")
    return key


def _float(value: float) -> Any:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(value)


def _written(value: Any) -> Optional[str]:
    """Values that JSON has no type for, as text."""
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise TypeError(f"the decimal {value} is no number")
        return format(value, "f")
    if isinstance(value, datetime):
        fine = "nanoseconds" if getattr(value, "nanosecond", 0) else "microseconds"  # of pandas
        if value.tzinfo is None:
            return value.isoformat(timespec=fine)
        return value.astimezone(timezone.utc).replace(tzinfo=None).isoformat(timespec=fine) + "Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        if value.tzinfo is not None:
            raise TypeError("a time with a zone is no value of a table")
        return value.isoformat(timespec="microseconds")
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode("ascii")
    return None
