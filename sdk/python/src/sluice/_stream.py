"""Arrow streams on their way from the server."""
from __future__ import annotations

import io
from typing import Any, Iterator, Optional

import pyarrow as pa
import requests
import urllib3

from ._errors import AnswerBroken
from ._http import NETWORK_ERRORS

BROKEN = (*NETWORK_ERRORS, urllib3.exceptions.HTTPError, OSError, pa.ArrowException)


class Source(io.RawIOBase):
    """The body of an answer as a file that notes when something was asked for behind its end."""

    def __init__(self, answer: requests.Response) -> None:
        self._raw = answer.raw
        self.ended = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size == 0:
            return b""
        parts, left = [], size
        while left != 0:
            part: bytes = self._raw.read(left if left > 0 else None)
            if not part:
                self.ended = True
                break
            parts.append(part)
            left = left - len(part) if left > 0 else 0
        return parts[0] if len(parts) == 1 else b"".join(parts)


class Batches:
    """The record batches of one answer. It is an iterator and a context manager.

    An answer that breaks off raises AnswerBroken: an Arrow stream is whole only with its end marker.
    """

    def __init__(self, answer: requests.Response, bar: Optional[Any] = None) -> None:
        self._answer = answer
        self._source = Source(answer)
        self._bar = bar
        self._done = False
        self.snapshot_id = _number(answer, "Sluice-Snapshot-Id")
        self.rows_of_snapshot = _number(answer, "Sluice-Rows")
        try:
            self._reader = pa.ipc.open_stream(self._source)
        except BROKEN as e:
            self.close()
            raise AnswerBroken(f"The answer broke off before its schema: {e}") from e
        except BaseException:
            self.close()
            raise
        self.schema: pa.Schema = self._reader.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self

    def __next__(self) -> pa.RecordBatch:
        if self._done:
            raise StopIteration
        try:
            batch = self._reader.read_next_batch()
        except StopIteration:
            self._finish()
            raise
        except BROKEN as e:
            self.close()
            raise AnswerBroken(f"The answer broke off: {e}") from e
        if self._bar is not None:
            self._bar.update(batch.num_rows)
        return batch

    def _finish(self) -> None:
        """Checks that the stream ended with its marker, and reads what the connection still has of the answer."""
        whole = not self._source.ended
        try:
            if whole:
                whole = self._source.read(1) == b""
            if whole:
                self._fill()
        except BROKEN as e:
            raise AnswerBroken(f"The answer broke off: {e}") from e
        finally:
            self.close()
        if not whole:
            raise AnswerBroken("The answer broke off: its Arrow stream has no end marker")

    def _fill(self) -> None:
        """Makes the bar end full: how many rows there are is known only now, because deletes are not counted before."""
        if self._bar is not None and self._bar.total is not None and self._bar.total != self._bar.n:
            self._bar.total = self._bar.n
            self._bar.refresh()

    def close(self) -> None:
        """Ends the reading, also early. The server stops as soon as it notices."""
        self._done = True
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        self._answer.close()

    def __enter__(self) -> "Batches":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_done", True):
            self.close()


def _number(answer: requests.Response, header: str) -> Optional[int]:
    text = answer.headers.get(header)
    try:
        return int(text) if text else None
    except ValueError:
        return None
