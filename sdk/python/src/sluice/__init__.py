"""Governed reads and writes of Iceberg tables through Sluice.

    from sluice import tables

    frame = tables.read("main.sales.orders", where="amount > 100").to_pandas()
    tables.write("main.sales.orders", frame, mode="upsert")

The server's address and the token come from SLUICE_URI and SLUICE_TOKEN, or from a Client of your own.
"""
from ._client import Client
from ._errors import (
    AnswerBroken,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    RowError,
    SluiceError,
    Unauthenticated,
    Unreachable,
)
from ._result import Result, WriteResult

from . import tables  # isort: skip  (it uses what is above)

__all__ = [
    "AnswerBroken",
    "Client",
    "Conflict",
    "Forbidden",
    "Invalid",
    "NotFound",
    "Result",
    "RowError",
    "SluiceError",
    "Unauthenticated",
    "Unreachable",
    "WriteResult",
    "tables",
]
