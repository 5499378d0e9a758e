"""The client of one server."""
from __future__ import annotations

import os
import sys
import uuid
from datetime import datetime
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union
from urllib.parse import quote

import pyarrow as pa

from ._encode import ARROW, body_of
from ._errors import AnswerBroken
from ._http import Transport, Tries
from ._result import Result, WriteResult
from ._stream import Batches

DEFAULT_URI = "http://127.0.0.1:8181"

Where = Union[str, Mapping[str, Any]]
When = Union[str, datetime]


class Client:
    """Reads and writes the tables of one server as one caller.

    ``uri`` is the root of the server and ``token`` an engine token or another bearer token; without them SLUICE_URI
    and SLUICE_TOKEN are taken. A request that fails for a reason that passes is sent again up to ``retries`` times. A
    client may be used by one thread at a time.
    """

    def __init__(
        self,
        uri: Optional[str] = None,
        token: Optional[str] = None,
        *,
        timeout: float = 600.0,
        connect_timeout: float = 10.0,
        retries: int = 5,
    ) -> None:
        uri = uri or os.environ.get("SLUICE_URI") or DEFAULT_URI
        uri = uri.rstrip("/")
        if uri.endswith("/api/catalog"):  # what Iceberg clients are given
            uri = uri[: -len("/api/catalog")]
        token = token or os.environ.get("SLUICE_TOKEN")
        self._transport = Transport(uri, token, timeout=timeout, connect_timeout=connect_timeout, retries=retries)

    @property
    def uri(self) -> str:
        return self._transport.uri

    def read(
        self,
        ref: str,
        columns: Optional[Sequence[str]] = None,
        where: Optional[Where] = None,
        limit: Optional[int] = None,
        as_of: Optional[When] = None,
        *,
        snapshot_id: Optional[int] = None,
        progress: Optional[bool] = None,
    ) -> Result:
        """Reads the rows of a table, as the caller may see them.

        ``ref`` is ``catalog.namespace.table`` or the table's UUID. ``where`` is SQL, such as ``amount > 100 AND region
        IN ('EU', 'US')``, or an Iceberg expression as a dict. ``as_of`` is a datetime with a time zone, or its text, and
        reads what the table was then. ``progress`` shows a bar, which notebooks get on long reads unless it is False.
        """
        tries = Tries(self._transport.retries)
        while True:
            try:
                with self._query(ref, columns, where, limit, as_of, snapshot_id, progress, tries) as batches:
                    return Result(pa.Table.from_batches(list(batches), batches.schema), batches.snapshot_id)
            except AnswerBroken:  # nothing of it was given to anybody
                if not tries.again():
                    raise

    def read_batches(
        self,
        ref: str,
        columns: Optional[Sequence[str]] = None,
        where: Optional[Where] = None,
        limit: Optional[int] = None,
        as_of: Optional[When] = None,
        *,
        snapshot_id: Optional[int] = None,
        progress: Optional[bool] = None,
    ) -> Batches:
        """Reads like read, a record batch at a time, so that a table need not fit into memory.

        It is an iterator with a ``schema``; as a context manager it can be left early. Raises AnswerBroken where the
        answer breaks off: the batches before it are then not all there are.
        """
        return self._query(ref, columns, where, limit, as_of, snapshot_id, progress, Tries(self._transport.retries))

    def write(
        self,
        ref: str,
        data: Any,
        mode: str = "append",
        label: Optional[str] = None,
        on_violation: str = "reject",
        *,
        idempotency_key: Optional[str] = None,
    ) -> WriteResult:
        """Writes rows to a table in one commit: all of them or none.

        ``data`` is an Arrow table, record batches or a reader of them, a pandas or polars DataFrame, or dicts of a row
        each. ``mode`` is ``append``, or ``upsert`` to replace the rows that have the same key: whole rows, of which a column
        that is left out is NULL or its default. ``label`` says how sensitive the rows are, where the caller knows.
        ``on_violation`` is what becomes of a write with rows that may not land: ``reject`` all of it, or put those rows
        into ``quarantine``.

        The write can be repeated with its ``idempotency_key``, a UUID, and lands once; without one, each call makes its
        own. Raises Invalid with ``row_errors`` where rows are not of the table.
        """
        if mode not in ("append", "upsert"):
            raise ValueError(f"mode is {mode!r}: it must be 'append' or 'upsert'")
        if on_violation not in ("reject", "quarantine"):
            raise ValueError(f"on_violation is {on_violation!r}: it must be 'reject' or 'quarantine'")
        body = body_of(data)
        params = {"mode": mode, "on-violation": on_violation}
        if label is not None:
            params["label"] = label
        key = idempotency_key or str(uuid.uuid4())
        headers = {"Content-Type": body.content_type, "Idempotency-Key": key, "Accept": "application/json"}
        answer = self._transport.send("POST", _path(ref, "write"), params=params, headers=headers, body=body.chunks)
        with answer:
            return WriteResult.of(answer.json())

    def preview(self, ref: str, limit: Optional[int] = None) -> Dict[str, Any]:
        """The first rows of a table and what its columns are, as the console shows them."""
        return self._get(_path(ref, "preview"), {"limit": str(limit)} if limit is not None else {})

    def profile(self, ref: str) -> Dict[str, Any]:
        """For each column: nulls, lowest and highest value, and about how many different ones there are."""
        return self._get(_path(ref, "profile"), {})

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<sluice.Client of {self.uri}>"

    def _get(self, path: str, params: Mapping[str, str]) -> Dict[str, Any]:
        with self._transport.send("GET", path, params=params, headers={"Accept": "application/json"}) as answer:
            got: Dict[str, Any] = answer.json()
            return got

    def _query(
        self,
        ref: str,
        columns: Optional[Sequence[str]],
        where: Optional[Where],
        limit: Optional[int],
        as_of: Optional[When],
        snapshot_id: Optional[int],
        progress: Optional[bool],
        tries: Tries,
    ) -> Batches:
        body = _question(columns, where, limit, as_of, snapshot_id)
        answer = self._transport.send("POST", _path(ref, "query"), headers={"Accept": ARROW}, json=body, tries=tries)
        known = answer.headers.get("Sluice-Rows", "")
        total = int(known) if known.isdigit() and where is None else None
        if limit is not None and where is None:
            total = limit if total is None else min(limit, total)
        return Batches(answer, _bar(ref, total, progress))


def _question(
    columns: Optional[Sequence[str]],
    where: Optional[Where],
    limit: Optional[int],
    as_of: Optional[When],
    snapshot_id: Optional[int],
) -> Dict[str, Any]:
    body: Dict[str, Any] = {}
    if columns is not None:
        if isinstance(columns, str):
            raise TypeError("columns is a text: give a list of names")
        names: List[str] = list(columns)
        body["select"] = names
    if isinstance(where, str):
        body["where"] = where
    elif where is not None:
        body["filter"] = dict(where)
    if limit is not None:
        if limit < 1:
            raise ValueError("limit must be at least 1")
        body["limit"] = int(limit)
    if as_of is not None and snapshot_id is not None:
        raise ValueError("give as_of or snapshot_id, not both")
    if isinstance(as_of, datetime):
        if as_of.tzinfo is None:
            raise ValueError("as_of has no time zone: use datetime.now(timezone.utc) or another datetime that has one")
        body["as-of"] = as_of.isoformat()
    elif as_of is not None:
        body["as-of"] = as_of
    if snapshot_id is not None:
        body["snapshot-id"] = str(snapshot_id)
    return body


def _path(ref: str, what: str) -> str:
    if not ref:
        raise ValueError("ref is empty: give catalog.namespace.table")
    return f"/data/v1/tables/{quote(ref, safe='')}/{what}"


def _bar(ref: str, total: Optional[int], progress: Optional[bool]) -> Optional[Any]:
    """A progress bar. Where nobody asked for one, notebooks get it on reads that take some seconds."""
    seconds = 0.0
    if progress is None:
        progress, seconds = _in_notebook(), 2.0
    if not progress:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, desc=ref, unit=" rows", unit_scale=True, delay=seconds)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
