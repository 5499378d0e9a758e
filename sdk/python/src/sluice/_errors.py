"""What requests fail with."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Type


@dataclass(frozen=True)
class RowError:
    """What is wrong with one value of one row that was sent, or with the row where ``field`` is None."""

    row: int  #: 1 for the first row
    field: Optional[str]  #: such as ``address.city`` or ``tags[2]``
    message: str

    def __str__(self) -> str:
        return f"row {self.row}, {self.field}: {self.message}" if self.field else f"row {self.row}: {self.message}"


class SluiceError(Exception):
    """A request that failed. ``status`` is None where there was no answer."""

    def __init__(
        self,
        message: str,
        *,
        status: Optional[int] = None,
        type: Optional[str] = None,
        row_errors: Optional[List[RowError]] = None,
        request_id: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.type = type
        self.row_errors = row_errors or []
        self.request_id = request_id

    def __str__(self) -> str:
        shown = [self.message] + [f"  {e}" for e in self.row_errors[:5]]
        if len(self.row_errors) > 5:
            shown.append(f"  and {len(self.row_errors) - 5} more in row_errors")
        return "\n".join(shown)


class Unauthenticated(SluiceError):
    """401: the token is missing, wrong or over."""


class Forbidden(SluiceError):
    """403: a privilege or the clearance for a column is missing."""


class NotFound(SluiceError):
    """404: there is no such table, or not for this caller."""


class Invalid(SluiceError):
    """400, 413 or 422: what was sent is wrong. ``row_errors`` says which rows, if some are."""


class Conflict(SluiceError):
    """409: somebody else was faster; try again against the new state."""


class Unreachable(SluiceError):
    """The server gave no answer, also after retries. What a write did is not known: send it again with its key."""


class AnswerBroken(SluiceError):
    """The answer broke off. What came of it is not all there is."""


_BY_STATUS: Dict[int, Type[SluiceError]] = {
    400: Invalid,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: Invalid,
    422: Invalid,
}


def error_of(status: int, body: Any, text: str, request_id: Optional[str] = None) -> SluiceError:
    """The error of an answer, whether Sluice gave it or something in between."""
    told: Any = body.get("error") if isinstance(body, dict) else None
    if not isinstance(told, dict):
        told = {"message": f"The server answered {status}: {text[:200].strip() or 'nothing'}"}
    rows: List[RowError] = []
    given = body.get("errors") if isinstance(body, dict) else None
    for e in given if isinstance(given, list) else []:
        if isinstance(e, dict) and "row" in e:
            rows.append(RowError(int(e["row"]), e.get("field"), str(e.get("message", ""))))
    kind = _BY_STATUS.get(status, SluiceError)
    return kind(
        str(told.get("message") or f"The server answered {status}"),
        status=status,
        type=told.get("type"),
        row_errors=rows,
        request_id=request_id,
    )
