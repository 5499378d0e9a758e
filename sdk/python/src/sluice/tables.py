"""Reads and writes with the server and the token of the environment: SLUICE_URI and SLUICE_TOKEN."""
from __future__ import annotations

from typing import Any, Dict, Iterator, Optional, Sequence

import pyarrow as pa

from ._client import Client, When, Where
from ._result import Result, WriteResult

__all__ = ["preview", "profile", "read", "read_batches", "write"]


def read(
    ref: str,
    columns: Optional[Sequence[str]] = None,
    where: Optional[Where] = None,
    limit: Optional[int] = None,
    as_of: Optional[When] = None,
    *,
    snapshot_id: Optional[int] = None,
    progress: Optional[bool] = None,
) -> Result:
    """Reads the rows of a table, as the caller may see them; see Client.read."""
    with Client() as client:
        return client.read(ref, columns, where, limit, as_of, snapshot_id=snapshot_id, progress=progress)


def read_batches(
    ref: str,
    columns: Optional[Sequence[str]] = None,
    where: Optional[Where] = None,
    limit: Optional[int] = None,
    as_of: Optional[When] = None,
    *,
    snapshot_id: Optional[int] = None,
    progress: Optional[bool] = None,
) -> Iterator[pa.RecordBatch]:
    """Reads like read, a record batch at a time; see Client.read_batches."""
    with Client() as client:
        with client.read_batches(ref, columns, where, limit, as_of, snapshot_id=snapshot_id, progress=progress) as batches:
            yield from batches


def write(
    ref: str,
    data: Any,
    mode: str = "append",
    label: Optional[str] = None,
    on_violation: str = "reject",
    *,
    idempotency_key: Optional[str] = None,
) -> WriteResult:
    """Writes rows to a table in one commit: all of them or none; see Client.write."""
    with Client() as client:
        return client.write(ref, data, mode, label, on_violation, idempotency_key=idempotency_key)


def preview(ref: str, limit: Optional[int] = None) -> Dict[str, Any]:
    """The first rows of a table and what its columns are; see Client.preview."""
    with Client() as client:
        return client.preview(ref, limit)


def profile(ref: str) -> Dict[str, Any]:
    """Figures of each column of a table; see Client.profile."""
    with Client() as client:
        return client.profile(ref)
