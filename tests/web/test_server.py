"""The server answers its own pages on this machine, refuses the rest, and ends in order."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidHandshake, WebSocketException
from websockets.sync.client import connect

from llama_envs.cli.table import main
from tests.web.server import Server, serving

Refusal = Callable[[Callable[[Sequence[str]], object], Sequence[str]], str]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as server:
        yield server


def ask(server: Server, path: str = "/", method: str = "GET", body: bytes | None = None, **headers: str) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    found = answer.status, answer.read(), dict(answer.getheaders())
    connection.close()
    return found


def test_pages_come_with_headers_that_keep_others_out(server: Server) -> None:
    status, page, headers = ask(server)
    assert status == 200
    assert b"llama-envs" in page
    assert headers["x-frame-options"] == "DENY"
    assert headers["content-security-policy"] == "frame-ancestors 'none'"
    assert ask(server, Host=f"localhost:{server.port}")[0] == 200


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (400, {"Host": "example.org"}),
        (400, {"Host": "127.0.0.1"}),
        (400, {"Host": "127.0.0.1.example.org:80"}),
        (403, {"Origin": "http://example.org"}),
        (403, {"Origin": "null"}),
        (403, {"Origin": "https://127.0.0.1:1"}),
        (403, {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}),
        (413, {"Content_Length": "10000000"}),
        (400, {"Content_Length": "-1"}),
    ],
)
def test_requests_of_others_are_refused(server: Server, status: int, headers: dict[str, str]) -> None:
    found, page, _ = ask(server, **headers)
    assert found == status
    assert b"table" not in page


def test_a_page_of_another_site_gets_no_websocket(server: Server) -> None:
    path = f"ws://127.0.0.1:{server.port}/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    for headers in ({"Origin": "http://example.org"}, {"Origin": "null"}):
        with pytest.raises(InvalidHandshake), connect(path, additional_headers=headers):
            pass
    with connect(path, additional_headers={"Origin": server.url}) as own:
        assert own.recv(timeout=10)


def test_ten_megabytes_are_not_read_and_the_server_goes_on(server: Server) -> None:
    path = f"ws://127.0.0.1:{server.port}/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    with pytest.raises((WebSocketException, OSError)), connect(path) as own:  # noqa: PT012
        own.recv(timeout=10)
        own.send("4" + "2" * 10_000_000)
        for _ in range(10):
            own.recv(timeout=10)
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw, pytest.raises(OSError):  # noqa: PT011, PT012
        raw.sendall(b"POST /x HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nTransfer-Encoding: chunked\r\n\r\n" % server.port)
        for _ in range(200):
            raw.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
        if b" 200 " not in raw.recv(100):
            raise OSError("refused")
    assert ask(server)[0] == 200


def test_unknown_tables_are_no_longer_there(server: Server) -> None:
    for path in ("/table/nobody", "/replay/nobody", "/table/..%2f..%2fetc%2fpasswd"):
        _, page, _ = ask(server, path)
        assert b"no longer there" in page or b"404" in page
        assert b"root:" not in page


def test_only_this_machine_is_answered(server: Server) -> None:
    for name in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}:
        if not str(name).startswith("127."):
            with pytest.raises(OSError), socket.create_connection((str(name), server.port), timeout=2):  # noqa: PT011
                pass


def test_ctrl_c_ends_it_at_once_with_one_line(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        code, said, seconds = server.stop()
    assert code == 130
    assert seconds < 2
    lines = said.strip().splitlines()
    assert len(lines) == 2, said
    assert server.url in lines[0]
    assert lines[1] == f"error: stopped; every game is in {server.games}."


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--port", "0"], "port must be an integer from 1 to 65535"),
        (["--port", "70000"], "port must be an integer from 1 to 65535"),
        (["--port", "http"], "port"),
        (["--policies", "nobody"], "policies: unknown policy 'nobody'"),
        (["--policies", "missing.py:Mine"], "policies: there is no file missing.py"),
        (["--games", "games.txt"], "games must be a file that ends with .jsonl"),
        (["--games", "."], "games must be a file that ends with .jsonl"),
        (["--colour", "red"], "colour"),
    ],
)
def test_mistakes_are_one_sentence(arguments: list[str], words: str, refusal: Refusal) -> None:
    assert words in refusal(main, arguments)


def test_a_port_that_is_taken_is_said(refusal: Refusal) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        sentence = refusal(main, ["--port", str(port), "--no-browser"])
    assert f"port {port} of 127.0.0.1 cannot be used" in sentence
    assert json.dumps(sentence).count("\\n") == 0
