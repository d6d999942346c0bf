"""Which tests ``make test`` leaves to ``make test-all``: the longest, mostly larger cases of what it proves itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.experiments.commands import Refusal, call, listing, sentence

EXHAUSTIVE = [
    # the doors and other libraries: in more than two configurations of each game
    r"tests/(adapters|drawing)/.*\[.*lama-num_players=(2-num_ranks|3-reward|4$|4\]|5|6)",
    r"test_ecosystem\.py::(?!test_(maskableppo|record_video_aec|parallel_to_aec|multi_episode_aec)\w*\[lama-3)",
    r"test_processes\.py::(.*\[spawn|test_(an_error|joblib|supersuit|dataloader|sb3_subproc))",
    r"test_kernels\.py::.*num_players=(2-num_ranks|[3-6])",
    r"::test_fresh_process\w*\[(1|.*HASHSEED': '1)",
    r"test_gym\.py::test_make_(works|imports)\w*\[llama_llama",
    r"test_architecture\.py::test_policies_play_matches\w*\[llama_llama",
    r"evaluation/test_tournament\.py::test_the_table_of_all_games\w*\[llama_llama",
    r"test_(gym|compile)\.py::test_(asyncvectorenv|worker_processes)\w*\[(spawn-lama|forkserver-llama_llama)",
    r"test_aec\.py::test_(1000_renders|rendering_changes_nothing\w*\[human-llama_llama-num_players=4)",
    r"test_without_ray\.py::.*\[(evaluate|train\]|distill)",
    r"test_readme\.py::test_example_runs\[from sb3_contrib",
    r"core/test_conformance\.py",
    r"test_baseline\.py::test_policies_play_on",
    # enumerations, referees and pictures at their largest
    r"lama/test_random_games\.py::test_every_action\w*\[[3-6]-choice",
    r"lama/test_referee\.py::test_kernels_and_referee_agree_state_by_state\[[3456]",
    r"llama_llama/test_referee\.py::test_games_agree_state_by_state\[[1-9]",
    r"llama_llama/test_resample\.py::test_worlds_are_uniform_over_what_legal\w*\[(?!2-\(1, 1, 1, 1\)-2)",
    r"llama_llama/test_resample\.py::test_worlds_look_alike\w*\[(\d-[3567]|[34])",
    r"llama_llama/test_adapters\.py::test_(cfr|solvers|equal_strings\w*\[[34])",
    r"lama/test_adapters\.py::test_(solvers_agree\w*\[(two|three)|cfr_improves|equal_strings\w*\[spec[013])",
    r"test_sequence_form\.py::test_(passed_cards|with_perfect|histories_inf\w*\[middle)",
    r"oracles/test_lama_referee\.py::test_random_games_are_as_long_as_published\[[346]",
    r"lama/test_render\.py::test_(text_and_picture|pictures_are)\w*\[([56] players|4 players, (7 ranks|tiny|recon))",
    r"llama_llama/test_render\.py::test_(text_and_picture|pictures_are)\w*\[(3 players|2 players\w*\(7)",
    r"llama_llama/test_render\.py::test_(view_of_a_waiting_seat\w*\[[34]|every_world_that\w*\[[34])",
    # compilation from nothing, plain Python, memory
    r"core/test_compile\.py::test_(two_processes|a_rule_changed|read_only|unchanged_code|plain_python)",
    r"core/test_plain_python\.py::test_(plain|without_numba)\w*\[llama_llama",
    r"core/test_(fast_paths|batch)\.py::test_(kernels_leave_no_memory_behind|nothing_stays_allocated)",
    r"third_party/test_check_game\.py::test_a_game_that_plays_differently",
    # strength, over many games
    r"test_search\.py::test_mc_beats",
    r"test_search\.py::test_choice_does_not_depend_on_what_the_seat_cannot_see__B02\[llama_llama",
    r"test_baseline\.py::test_baseline_beats",
    # whole commands, killed and resumed, or in another process
    r"test_baselines\.py::test_trying_a_recipe",
    r"test_third_party\.py::test_(the_command_lines|installed_alone_it_has\[(check_game|throughput|OpenSpiel))",
    r"test_(passing|quitting)_study\.py::test_(the_report_is_whole|numbers_do_not_depend|the_commands)",
    r"test_exact\.py::test_(a_run_writes|a_game_of_another|training_lowers|numbers_do_not)",
    r"test_decisions\.py::test_the_commands",
    r"test_notebooks_runner\.py",
    r"test_policies_page\.py::test_(a_file_of_ones_own_reaches|both_ways)",
    r"adapters/test_open_spiel\.py::test_(the_example_runs|a_state_travels|serialised\w*\[.*num_players=[34])",
    r"evaluation/test_\w+\.py::.*\[llama_llama",
    r"test_tournament\.py::test_(a_killed|the_order_of_the_policies_and)",
    r"test_train_(stopped|watch)\.py::test_(a_stopped|progress_is_printed)",
    r"test_exploit\.py::test_(the_numbers_do_not|a_stopped)",
    r"test_(passing|quitting)_study\.py::test_a_study_of_ones_own",
    r"drawing/test_renderers\.py::test_(a_browser|without_pillow)",
    r"test_train\.py::test_a_killed",
    r"test_train_stopped\.py::test_(an_opponent|a_stopped_response|several|making)",
    r"test_train_watch\.py::test_(training_keeps|seeds_are)",
]
LEFT_OUT = re.compile("|".join(f"(?:{pattern})" for pattern in EXHAUSTIVE))


@pytest.fixture
def refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refusal:
    """``refusal(main, arguments)``: the one sentence with which a command refuses them, code 2, the disk as it was."""

    def refuse(main: Callable[[Sequence[str]], object], arguments: Sequence[str]) -> str:
        before = listing(tmp_path)
        assert call(main, arguments, tmp_path, monkeypatch) == 2, capsys.readouterr()
        shown = capsys.readouterr()
        assert "nan" not in shown.out
        assert listing(tmp_path) == before
        return sentence(shown.err)

    return refuse


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if LEFT_OUT.search(item.nodeid):
            item.add_marker(pytest.mark.exhaustive)
