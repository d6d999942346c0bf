"""``llama-envs table``: a page in the browser on which to play, watch and look at recorded games."""

from __future__ import annotations

import dataclasses
import socket
from collections.abc import Sequence
from pathlib import Path

from llama_envs.cli.command import check_output, parse_options, run_or_exit
from llama_envs.core.registry import game_specs
from llama_envs.core.validation import check_int
from llama_envs.policies import make_policy
from llama_envs.web.server import HOST, serve


@dataclasses.dataclass(frozen=True)
class Options:
    """Play, watch and look at recorded games in the browser."""

    port: int = 8080
    """Port of 127.0.0.1; nobody else's machine can reach it."""
    browser: bool = True
    """Open the page in a browser; --no-browser says where it is, and that is all."""
    policies: tuple[str, ...] = ()
    """More policies to choose from, for example mine.py:Mine or network:model.zip."""
    games: Path = Path("runs/table/games.jsonl")
    """Where every game is written, a line each, as --record does."""

    def __post_init__(self) -> None:
        check_int("port", self.port, 1, 65535)
        check_output("games", self.games, ".jsonl")
        for name in self.policies:
            check_policy(name)


def check_policy(name: str) -> None:
    """ValueError unless some game that is there can be played by the policy ``name``."""
    problems = []
    for spec in game_specs():
        for players in spec.players:
            try:
                make_policy(name, spec.make_game(spec.config(num_players=players)))
            except ValueError as error:
                problems.append(str(error))
            else:
                return
    raise ValueError(f"policies: {problems[0]}")


def check_port(port: int) -> None:
    """ValueError if somebody else listens there, or the port may not be used."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, port))
    except OSError as error:
        raise ValueError(f"port {port} of {HOST} cannot be used ({error.strerror}).") from None


def _run(options: Options) -> None:
    check_port(options.port)
    print(f"the table is at http://{HOST}:{options.port} (Ctrl-C ends it); games: {options.games}", flush=True)
    serve(options.port, options.games, options.policies, options.browser)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    options = parse_options(Options, (__doc__ or "").partition("\n")[0], argv)
    run_or_exit(lambda: _run(options), f"every game is in {options.games}")


if __name__ == "__main__":
    main()
