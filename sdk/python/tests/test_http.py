import time
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest

import sluice
from conftest import Answer, refusal, told
from sluice import _http, tables


@pytest.mark.parametrize("status, kind", [
    (400, sluice.Invalid), (401, sluice.Unauthenticated), (403, sluice.Forbidden), (404, sluice.NotFound), (409, sluice.Conflict), (413, sluice.Invalid),
    (422, sluice.Invalid), (500, sluice.SluiceError), (406, sluice.SluiceError),
])
def test_errors_have_a_kind_and_are_not_tried_again(server, client, status, kind):
    server.will(refusal(status, "SomeException", "do this"))
    with pytest.raises(sluice.SluiceError, match="do this") as e:
        client.profile("t")
    assert type(e.value) is kind and e.value.status == status and e.value.type == "SomeException"
    assert len(server.requests) == 1


def test_a_client_without_a_token_says_where_it_comes_from(server, monkeypatch):
    monkeypatch.delenv("SLUICE_TOKEN", raising=False)
    server.will(refusal(401, "NotAuthorizedException", "send the header Authorization"))
    with pytest.raises(sluice.Unauthenticated, match="set SLUICE_TOKEN"):
        sluice.Client(server.uri).profile("t")


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_passes_is_tried_again(server, client, status):
    server.will(Answer(status, b"<html>proxy</html>"), Answer(cut=0), told(rows=[]))
    assert client.preview("t", 5) == {"rows": []}
    assert [r.path for r in server.requests] == ["/data/v1/tables/t/preview?limit=5"] * 3


def test_what_does_not_pass_is_told_in_the_end(server):
    server.will(Answer(503, b"<html>proxy</html>"))
    with pytest.raises(sluice.SluiceError, match="503: <html>proxy") as e:
        sluice.Client(server.uri, retries=2).profile("t")
    assert e.value.status == 503 and len(server.requests) == 3


def test_no_server_is_told(server):
    server.close()
    with pytest.raises(sluice.Unreachable) as e:
        sluice.Client(server.uri, retries=1).profile("t")
    assert e.value.status is None


def test_the_server_says_how_long_to_wait(server, client):
    server.will(refusal(429, "SlowDownException", "slow down", **{"Retry-After": "1"}), told())
    began = time.monotonic()
    client.profile("t")
    assert time.monotonic() - began >= 1


def test_retry_after():
    later = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=30), usegmt=True)
    assert 28 < _http.retry_after(later) <= 30
    assert [_http.retry_after(t) for t in ("2", "0.5", "-1", None, "soon")] == [2, 0.5, 0, None, None]


def test_a_redirect_does_not_get_the_token(server, client):
    server.will(Answer(302, headers={"Location": server.uri + "/elsewhere"}))
    with pytest.raises(sluice.SluiceError):
        client.profile("t")
    assert len(server.requests) == 1


def test_preview_and_profile_of_the_environment(server, monkeypatch):
    monkeypatch.setenv("SLUICE_URI", server.uri)
    server.will(told(columns=[]))
    assert tables.preview("t") == tables.profile("t") == {"columns": []}
    assert [r.path for r in server.requests] == ["/data/v1/tables/t/preview", "/data/v1/tables/t/profile"]


def test_a_server_that_is_not_who_it_says_is_not_asked_again(server, monkeypatch):
    monkeypatch.setattr(_http.time, "sleep", lambda _: pytest.fail("it was tried again"))
    with pytest.raises(sluice.Unreachable):
        sluice.Client(server.uri.replace("http:", "https:")).profile("t")
