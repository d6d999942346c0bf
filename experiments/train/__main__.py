"""Train a MaskablePPO agent by self-play, then measure it against scripted opponents.

    python -m experiments.train <game> --num-players 4

Everything goes to ``runs/<name>/``: config.json, command.txt, versions.json, metrics.csv, learning_curve.png, the
TensorBoard log, model.zip (of Stable-Baselines3, and a policy file: ``ppo:runs/<name>/model.zip``), best_model.zip (one
like it, that won most when it was evaluated on the way), evaluation.csv and the last checkpoint, from which
``--resume`` goes on exactly. With ``--seeds 5`` each run has a folder of its own in there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.train.learner import check, config_of
from experiments.train.options import RENAMED, Options
from experiments.train.run import side_by_side, train
from llama_envs.cli.command import game_of, parse, run_or_exit
from llama_envs.cli.run_folder import RUNS, default_name, open_run

MAY_GROW = ("total_timesteps", "deals")


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    call = parse(Options, __doc__.partition("\n")[0], argv, renamed=RENAMED)
    options: Options = call.options
    game = run_or_exit(lambda: game_of(call))
    run_or_exit(lambda: check(game, options))  # before anything is written
    name = options.name or default_name(game.name, f"{game.num_players}p", f"s{options.seed}")
    config: dict[str, Any] = run_or_exit(lambda: config_of(game, options))
    folder = RUNS / name

    def start() -> None:
        with side_by_side(options) as spread:  # before anything is written
            open_run(name, config, options.resume, MAY_GROW)
            train(game, options, folder, spread)

    goes_on = f"{folder} keeps all but the running rollout, and the same command with --name {name} --resume goes on"
    run_or_exit(start, goes_on)
    print(f"model: {folder / 'model.zip' if options.seeds == 1 else folder / 'run-*' / 'model.zip'}")


if __name__ == "__main__":
    main()
