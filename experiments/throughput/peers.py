"""Other suites' environments, driven the way their users drive them, for ``experiments.throughput``.

The extra ``peers`` brings those that pip can install. A peer that is not here is listed with the reason.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
import shutil
import subprocess
import sys
import sysconfig
import warnings
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from experiments.throughput.probes import CHUNK, Absent, Probe, Run, aec_loop
from experiments.throughput.targets import COMPARED
from llama_envs.core.registry import spec_of

PUFFERLIB = "3.0.0"
BUILD = Path(__file__).resolve().parents[2] / "build" / "pufferlib"
PGX_STEPS = 16
PUFFER, PUFFER_LEGAL = "PufferLib Ocean, C", "PufferLib Ocean, C, legal steps"


def peer_probes(number: int = 1024) -> list[Probe]:
    """All peers; vectorised ones play ``number`` games at once."""
    one = partial(Probe, "peer", players=None, number=1)
    many = partial(Probe, "peer", players=None, number=number)
    probes = []
    for game, module in (("leduc hold'em", "leduc_holdem_v4"), ("connect four", "connect_four_v3"),
                         ("tic-tac-toe", "tictactoe_v3")):  # fmt: skip
        for kind in ("raw_env", "env"):
            probes.append(one(f"PettingZoo {kind}", game, prepare=partial(pettingzoo_loop, module, kind)))
    for game, name in (("UNO", "uno"), ("leduc hold'em", "leduc-holdem")):
        probes.append(one("RLCard env.step", game, prepare=partial(rlcard_loop, name)))
    for game, name in (("crazy eights", "crazy_eights"), ("hearts", "hearts"), ("leduc poker", "leduc_poker")):
        probes.append(one("OpenSpiel from Python", game, prepare=partial(open_spiel_loop, name)))
    for game, name in (("leduc hold'em", "leduc_holdem"), ("connect four", "connect_four"),
                       ("tic-tac-toe", "tic_tac_toe")):  # fmt: skip
        probes.append(many("Pgx on the CPU", game, prepare=partial(pgx_loop, name, number)))
    probes.append(many(PUFFER, "triple triad", prepare=partial(puffer_loop, number)))
    probes.append(many(PUFFER_LEGAL, "triple triad", prepare=partial(puffer_loop, number, legal=True)))
    probes.append(one("RainbowArena", spec_of(COMPARED).title, prepare=rainbow_arena))
    return probes


def peer_versions() -> dict[str, str]:
    """Versions of the installed peers."""
    found = {}
    for name in ("pettingzoo", "rlcard", "open_spiel", "pgx", "jax"):
        if importlib.util.find_spec("pyspiel" if name == "open_spiel" else name) is not None:
            found[name] = version(name)
    return found


def load(module: str, package: str) -> Any:
    """Import a peer's module; Absent if its package is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(module)
    except ImportError as error:
        raise Absent(f"{package} is not installed here ({error})") from None


def pettingzoo_loop(module: str, kind: str) -> Run:
    """A classic environment of PettingZoo."""
    load("rlcard" if "leduc" in module else "pettingzoo", "rlcard")
    classic = load(f"pettingzoo.classic.{module}", "pettingzoo[classic]")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return aec_loop(getattr(classic, kind)())


def rlcard_loop(name: str) -> Run:
    """``env.step`` of RLCard, which encodes the state of the player to move."""
    env = load("rlcard", "rlcard").make(name)
    state, _ = env.reset()

    def run() -> int:
        nonlocal state
        for _ in range(CHUNK):
            if env.is_over():
                state, _ = env.reset()
            state, _ = env.step(random.choice(list(state["legal_actions"])))
        return CHUNK

    return run


def open_spiel_loop(name: str) -> Run:
    """A C++ game of OpenSpiel driven from Python, with the mover's tensor and mask at every decision."""
    game = load("pyspiel", "open_spiel").load_game(name)
    has_information_state = game.get_type().provides_information_state_tensor
    state = game.new_initial_state()

    def run() -> int:
        nonlocal state
        decisions = 0
        while decisions < CHUNK:
            if state.is_terminal():
                state = game.new_initial_state()
            elif state.is_chance_node():
                outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(random.choices(outcomes, probabilities)[0])
            else:
                seat = state.current_player()
                np.array(
                    state.information_state_tensor(seat) if has_information_state else state.observation_tensor(seat)
                )
                np.array(state.legal_actions_mask(seat))
                state.apply_action(random.choice(state.legal_actions()))
                decisions += 1
        return decisions

    return run


def pgx_loop(name: str, number: int) -> Run:
    """Pgx with its own automatic reset: ``PGX_STEPS`` uniform legal steps of all games in one compiled scan."""
    pgx, jax = load("pgx", "pgx"), load("jax", "jax")
    wrappers = load("pgx.experimental.wrappers", "pgx")
    env = pgx.make(name)
    step = jax.vmap(wrappers.auto_reset(env.step, env.init))

    def one(carry: Any, _: Any) -> Any:
        state, key = carry
        key, choice, luck = jax.random.split(key, 3)
        logits = jax.numpy.where(state.legal_action_mask, 0.0, -jax.numpy.inf)
        state = step(state, jax.random.categorical(choice, logits), jax.random.split(luck, number))
        return (state, key), None

    scan = jax.jit(lambda carry: jax.lax.scan(one, carry, None, length=PGX_STEPS)[0])
    carry = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), number)), jax.random.PRNGKey(1)

    def run() -> int:
        nonlocal carry
        carry = scan(carry)
        jax.block_until_ready(carry)
        return number * PGX_STEPS

    return run


def puffer_loop(number: int, legal: bool = False) -> Run:
    """PufferLib's triple triad with actions drawn beforehand, as its own speed test does; it has no masks.

    Most of such actions are illegal and change nothing; ``legal`` counts only the part that changes something.
    """
    binding = puffer_binding()
    observation, actions = np.zeros((number, 114), np.float32), np.zeros(number, np.int32)
    reward, flags = np.zeros(number, np.float32), [np.zeros(number, np.bool_) for _ in range(2)]
    envs = binding.vec_init(
        observation, actions, reward, *flags, number, 0, width=990, height=690, card_width=192, card_height=224
    )
    binding.vec_reset(envs, 0)
    held = observation, reward, flags  # C writes to them
    drawn = np.random.default_rng(0).integers(0, 14, (64, number)).astype(np.int32)

    def run() -> int:
        for row in drawn:
            actions[:] = row
            binding.vec_step(envs)
        return round(len(drawn) * len(held[0]) * share)

    share = 1.0
    for _ in range(4):  # until all games are somewhere in the middle
        run()
    if legal:
        changed = []
        for row in drawn:
            before, actions[:] = observation.copy(), row
            binding.vec_step(envs)
            changed.append(np.mean((observation != before).any(axis=1) | flags[0]))
        share = float(np.mean(changed))
    return run


def puffer_binding() -> Any:
    """The C binding of triple triad, compiled from PufferLib's source package if that is not done yet.

    Its set-up wants more than a package index gives; so pip only fetches and unpacks it, and the one file is compiled
    here.
    """
    library = BUILD / f"binding{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not library.exists():
        compile_puffer(library)
    spec = importlib.util.spec_from_file_location("binding", library)
    if spec is None or spec.loader is None:
        raise Absent(f"{library} is no Python module")
    flags = sys.getdlopenflags()
    sys.setdlopenflags(os.RTLD_LAZY)  # the drawing functions of raylib are never called, so they may be missing
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:
        raise Absent(f"the compiled binding does not load: {error}") from None
    finally:
        sys.setdlopenflags(flags)
    return module


def compile_puffer(library: Path) -> None:
    """Fetch the source of PufferLib and compile triple triad; Absent if either fails."""
    if shutil.which("gcc") is None:
        raise Absent("its package does not install by pip, and there is no gcc to compile the one environment")
    BUILD.mkdir(parents=True, exist_ok=True)
    fetch = [
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation", "--no-clean",
        "--no-binary", ":all:", "--dest", str(BUILD), f"pufferlib=={PUFFERLIB}",
    ]  # fmt: skip
    subprocess.run(fetch, env={**os.environ, "TMPDIR": str(BUILD)}, capture_output=True, timeout=300, check=False)
    sources = sorted(BUILD.glob("pip-*/pufferlib_*/pufferlib/ocean/tripletriad/binding.c"))
    if not sources:
        raise Absent(f"pip could not fetch the source of PufferLib {PUFFERLIB}")
    headers = next(iter(sources[0].parents[3].glob("raylib-*/include")), None)
    include = [np.get_include(), sysconfig.get_paths()["include"], *([str(headers)] if headers else [])]
    command = ["gcc", "-O2", "-shared", "-fPIC", "-w", *(f"-I{path}" for path in include), str(sources[0])]
    temporary = library.with_suffix(".new")
    done = subprocess.run([*command, "-o", str(temporary)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Absent(f"gcc could not compile PufferLib's triple triad: {done.stderr.strip().splitlines()[0]}")
    temporary.replace(library)
    for folder in BUILD.glob("pip-*"):
        shutil.rmtree(folder, ignore_errors=True)


def rainbow_arena() -> Run:
    """The other Python version of our game for reinforcement learning."""
    raise Absent("enochliu98/RainbowArena is on GitHub only, not on the package index")
