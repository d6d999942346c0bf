"""Seeds that are not equal, and purposes of one run, share no stream: games, seats, opponents (known fault B20)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.distill import Lesson
from experiments.distill import Options as DistillOptions
from experiments.exact.learning import ppo_options
from experiments.exploit import Options as ExploitOptions
from experiments.exploit import learner_options
from experiments.lib.seeds import Purpose, run_seeds
from experiments.train import learner
from experiments.train.options import Options
from llama_envs.core.batch import Batch
from llama_envs.core.registry import game_names, make_game
from llama_envs.evaluation import matches
from llama_envs.policies import make_policy

GAMES = 1024
SMALL: dict[str, Any] = {"num_envs": GAMES, "n_steps": 1, "layers": (8,)}


def words(*arrays: Any) -> set[int]:
    """The streams in some arrays, all different."""
    found = [int(word) for array in arrays for word in np.ravel(array)]
    assert len(set(found)) == len(found)
    return set(found)


def origins(batch: Batch) -> set[tuple[int, int]]:
    """The (seed, row) of every game, from which all its streams begin."""
    found = list(zip(*(array.tolist() for array in batch.origin), strict=True))
    assert len(set(found)) == len(found)
    return set(found)


def training_streams(game: str, options: Options, folder: Path) -> set[int]:
    """Everything from which games, seats and opponents are drawn when training begins."""
    played = make_game(game, num_players=3)
    model, self_play = learner.build(played, options, folder)
    model.logger.close()
    model._setup_learn(1, None, reset_num_timesteps=False)  # the first reset, which takes the seeds
    games = self_play.env.games
    own = {"seats": games._seat_streams, "opponents": games._players.streams} if hasattr(games, "_players") else {}
    return words(games.batch.streams, *own.values())


@pytest.mark.parametrize("game", game_names())
@pytest.mark.parametrize("kind", ["train", "exploit", "exact"])
def test_training_of_two_seeds_shares_no_game_no_seat_and_no_opponent__B20(
    game: str, kind: str, tmp_path: Path
) -> None:
    def options(seed: int) -> Options:
        if kind == "exact":
            return ppo_options(seed, 8192)
        if kind == "exploit":
            return learner_options(ExploitOptions(seed=seed, **SMALL))
        return Options(seed=seed, **SMALL)

    zero, one = (training_streams(game, options(seed), tmp_path / str(seed)) for seed in (0, 1))
    assert len(zero) == len(one) >= 256 // 3
    assert not zero & one
    assert zero == training_streams(game, options(0), tmp_path / "again")


@pytest.mark.parametrize("seed", [0, 1])
def test_the_purposes_of_one_run_share_no_game__B20(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample that standardises, training, evaluation on the way and at the end, a teacher's positions."""
    game = make_game("lama", num_players=3)
    made: list[Batch] = []

    def recorded(*arguments: Any, **options: Any) -> Batch:
        made.append(Batch(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(learner, "Batch", recorded)
    learner.sample_observations(game, Options(seed=seed))
    monkeypatch.setattr(matches, "Batch", recorded)
    matches.play(game, ["random"] * 3, 40, seed)
    sample, final = made
    self_play = learner.SelfPlay(game, Options(seed=seed, **SMALL), tmp_path)
    self_play.env.seed(run_seeds(seed, Purpose.TRAINING, GAMES))
    self_play.env.reset()
    watched = Batch(
        game, 40, np.random.SeedSequence(self_play.watch.seed).generate_state(40, np.uint64)
    )  # as play does
    lesson = Lesson(game, DistillOptions(num_envs=GAMES, seed=seed), make_policy("random", game))
    parts = [origins(batch) for batch in (sample, self_play.env.games.batch, watched, lesson.batch)]
    parts.append(set(zip(*(array.tolist() for array in final.origin), strict=True)))  # a deal in each rotation
    seeds = [set(run_seeds(seed, purpose, GAMES).tolist()) for purpose in Purpose]
    for group in (parts, seeds):
        assert sum(map(len, group)) == len(set().union(*group))


def test_lessons_of_two_seeds_share_no_stream__B20() -> None:
    game = make_game("lama", num_players=2)
    zero, one = (
        words(lesson.batch.streams, *lesson.streams)
        for lesson in (
            Lesson(game, DistillOptions(num_envs=GAMES, seed=seed), make_policy("random", game)) for seed in (0, 1)
        )
    )
    assert len(zero) == len(one) == 3 * GAMES
    assert not zero & one
