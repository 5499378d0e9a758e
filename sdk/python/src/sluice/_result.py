"""What reads and writes give."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Mapping, Optional

import pyarrow as pa


class Result:
    """The rows that a read gave, as an Arrow table."""

    def __init__(self, table: pa.Table, snapshot_id: Optional[int]) -> None:
        self._table = table
        self.snapshot_id = snapshot_id  #: that was read, None for a table without any

    def to_arrow(self) -> pa.Table:
        return self._table

    def to_pandas(self, **options: Any) -> Any:
        """A pandas DataFrame. The options are those of pyarrow.Table.to_pandas."""
        _require("pandas")
        return self._table.to_pandas(**options)

    def to_polars(self) -> Any:
        """A polars DataFrame."""
        return _require("polars").from_arrow(self._table)

    def to_pylist(self) -> List[Dict[str, Any]]:
        return list(self._table.to_pylist())

    @property
    def schema(self) -> pa.Schema:
        return self._table.schema

    @property
    def num_rows(self) -> int:
        return int(self._table.num_rows)

    def __len__(self) -> int:
        return self.num_rows

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(self._table.to_batches())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        names = ", ".join(self._table.column_names)
        return f"<sluice.Result: {self.num_rows:,} rows of {names}; snapshot {self.snapshot_id}>"


def _require(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as e:
        raise ImportError(f"{name} is not installed: pip install 'sluice[{name}]'") from e


@dataclass(frozen=True)
class WriteResult:
    """What a write did. All of it is in one commit."""

    snapshot_id: Optional[int]  #: None where nothing landed in the table itself
    rows: int  #: that landed
    updated: Optional[int]  #: rows of the table that they replaced; None for who may not learn which keys there are
    superseded: int  #: that were sent and followed by another of the same key, which landed instead
    quarantined: int  #: that were put into quarantine_table
    audit_id: str  #: of the write, "" for one without rows
    quarantine_table: Optional[str] = None
    level: Optional[str] = None  #: the highest classification of a row
    levels: Mapping[str, int] = field(default_factory=dict)  #: rows of each classification
    tags: Mapping[str, int] = field(default_factory=dict)  #: rows that have each tag

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> "WriteResult":
        return cls(
            snapshot_id=int(answer.get("snapshot-id") or 0) or None,
            rows=int(answer.get("rows", 0)),
            updated=None if answer.get("updated") is None else int(answer["updated"]),
            superseded=int(answer.get("superseded", 0)),
            quarantined=int(answer.get("quarantined", 0)),
            audit_id=str(answer.get("audit-id") or ""),
            quarantine_table=answer.get("quarantine-table") or None,
            level=answer.get("level") or None,
            levels=dict(answer.get("levels") or {}),
            tags=dict(answer.get("tags") or {}),
        )
