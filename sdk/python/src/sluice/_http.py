"""Requests that are tried again."""
from __future__ import annotations

import random
import time
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Dict, Iterator, Mapping, Optional

import requests

from ._errors import SluiceError, Unreachable, error_of

# Answers that say that nothing was done, or that the server cannot say now what was.
RETRIED = frozenset({429, 502, 503, 504})
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 30.0

# What a request failed with before there was an answer, or in the middle of one.
NETWORK_ERRORS = (
    requests.exceptions.ConnectionError,
    requests.exceptions.Timeout,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
)

Body = Callable[[], Iterator[bytes]]


class Transport:
    """Sends requests to one server as one caller."""

    def __init__(self, uri: str, token: Optional[str], *, timeout: float, connect_timeout: float, retries: int) -> None:
        self.uri = uri
        self.retries = retries
        self._timeout = (connect_timeout, timeout)
        # The time to connect is also that of each part of a body, and a server may let a writer wait for memory.
        self._sending = (timeout, timeout)
        self._token = token
        self._session = requests.Session()
        self._session.trust_env = True

    def close(self) -> None:
        self._session.close()

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Optional[Mapping[str, str]] = None,
        headers: Optional[Mapping[str, str]] = None,
        json: Any = None,
        body: Optional[Body] = None,
        tries: Optional["Tries"] = None,
    ) -> requests.Response:
        """Gives the answer of a request that succeeded, whose body is still to be read, and raises what else it says.

        The request must be one that may be sent twice; ``body`` gives its body anew for each time.
        """
        tries = tries or Tries(self.retries)
        sent: Dict[str, str] = {"Accept-Encoding": "identity", **(headers or {})}
        while True:
            try:
                answer = self._session.request(
                    method,
                    self.uri + path,
                    params=params,
                    headers=sent,
                    json=json,
                    data=body() if body else None,
                    auth=self._authorize,
                    timeout=self._timeout if body is None else self._sending,
                    stream=True,
                    allow_redirects=False,
                )
            except NETWORK_ERRORS as e:
                if isinstance(e, requests.exceptions.SSLError) or not tries.again():
                    raise Unreachable(f"{self.uri} gave no answer. Is the server running, and is this its address (SLUICE_URI)? {e}") from e
                continue
            if 200 <= answer.status_code < 300:
                return answer
            with answer:
                error = self._error(answer)
                after = answer.headers.get("Retry-After")
            if answer.status_code not in RETRIED or not tries.again(retry_after(after)):
                raise error

    def _authorize(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        # A hook rather than a header, so that no .netrc takes its place.
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def _error(self, answer: requests.Response) -> SluiceError:
        try:
            content = answer.content
        except NETWORK_ERRORS:
            content = b""
        text = content.decode("utf-8", "replace")
        try:
            body = answer.json() if content else None
        except ValueError:
            body = None
        if answer.status_code == 401 and not self._token:
            body = {"error": {"message": "There is no token: set SLUICE_TOKEN, or give one to sluice.Client.", "type": "NotAuthorizedException"}}
        return error_of(answer.status_code, body, text, answer.headers.get("X-Request-Id"))


class Tries:
    """Counts how often something was tried, and waits in between, each time about twice as long."""

    def __init__(self, retries: int) -> None:
        self.left = retries
        self._pause = FIRST_PAUSE

    def again(self, after: Optional[float] = None) -> bool:
        """Waits and gives True where another try is left."""
        if self.left <= 0:
            return False
        self.left -= 1
        pause = self._pause * random.uniform(0.5, 1.0)
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
        time.sleep(min(max(pause, after or 0.0), LONGEST_PAUSE))
        return True


def retry_after(text: Optional[str]) -> Optional[float]:
    """The seconds that a Retry-After header asks for, which may also be a date."""
    if not text:
        return None
    try:
        return max(float(text), 0.0)
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=timezone.utc)
    return max((at - datetime.now(timezone.utc)).total_seconds(), 0.0)
