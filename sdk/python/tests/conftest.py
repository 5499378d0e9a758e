"""A small HTTP server whose answers a test writes down."""
import io
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable, Dict, List, Optional

import pyarrow as pa
import pytest

import sluice
from sluice import _http


@dataclass
class Request:
    method: str
    path: str
    headers: Dict[str, str]
    body: bytes

    def json(self):
        return json.loads(self.body)


@dataclass
class Answer:
    status: int = 200
    body: bytes = b""
    headers: Dict[str, str] = field(default_factory=dict)
    cut: Optional[int] = None  # bytes of the body after which the connection is cut; 0 for no answer at all


class Listener(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address) -> None:
        pass  # clients go where tests let them


class Server:
    """Answers with what was written down, in order; the last answer again and again."""

    def __init__(self) -> None:
        self.requests: List[Request] = []
        self.answers: List[Answer] = []
        self._server = Listener(("127.0.0.1", 0), self._handler())
        self.uri = "http://127.0.0.1:%d" % self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def will(self, *answers: Answer) -> None:
        self.answers = list(answers)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(outer) -> Callable:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self) -> None:
                outer.requests.append(Request(self.command, self.path, dict(self.headers), self._body()))
                answer = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                if answer.cut == 0:
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                body = answer.body if answer.cut is None else answer.body[: answer.cut]
                for at in range(0, len(body), 1000):
                    part = body[at : at + 1000]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                if answer.cut is None:
                    self.wfile.write(b"0\r\n\r\n")
                else:
                    self.close_connection = True

            def _body(self) -> bytes:
                if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                    return self.rfile.read(int(self.headers.get("Content-Length", 0)))
                got = b""
                while True:
                    line = self.rfile.readline()
                    if not line:  # the client thought better of it
                        self.close_connection = True
                        return got
                    size = int(line, 16)
                    got += self.rfile.read(size)
                    self.rfile.readline()
                    if size == 0:
                        return got

            do_GET = do_POST = serve

            def log_message(self, *_) -> None:
                pass

        return Handler


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(_http, "FIRST_PAUSE", 0.01)
    s = Server()
    yield s
    s.close()


@pytest.fixture
def client(server):
    with sluice.Client(server.uri, "secret") as c:
        yield c


def arrow(table: pa.Table, rows: int = 1000) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema) as w:
        w.write_table(table, max_chunksize=rows)
    return out.getvalue()


def refusal(status: int, kind: str, message: str, errors=None, **headers: str) -> Answer:
    body = {"error": {"message": message, "type": kind, "code": status}}
    if errors is not None:
        body["errors"] = errors
    return Answer(status, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})


def told(**answer) -> Answer:
    return Answer(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})
