"""Which tests ``make test`` leaves to ``make test-all``: the longest, mostly larger cases of what it proves itself."""

from __future__ import annotations

import re

import pytest

EXHAUSTIVE = [
    # other libraries, at more than one number of players of each game
    r"test_ecosystem\.py::test_(maskableppo|torchrl|tianshou|supersuit)\w*\[(?!lama-3|llama_llama-2)",
    r"test_ecosystem\.py::test_(turn_based|parallel_to|record)\w*\[(?!lama-3|llama_llama-2)",
    r"test_ecosystem\.py::test_plain_stable",
    # enumerations and referees at their largest
    r"llama_llama/test_resample\.py::test_worlds_are_uniform_over_what_legal\w*\[(?![23]-\(1, 1, 1, 1\)-2)",
    r"lama/test_referee\.py::test_kernels_and_referee_agree_state_by_state\[[56]",
    r"llama_llama/test_referee\.py::test_games_agree_state_by_state\[[2-9]",
    r"llama_llama/test_adapters\.py::test_(cfr|solvers)",
    r"oracles/test_lama_referee\.py::test_random_games_are_as_long_as_published\[[346]",
    # compilation from nothing, memory and renders over thousands of calls
    r"core/test_compile\.py::test_(two_processes|a_rule_changed|read_only)",
    r"core/test_fast_paths\.py::test_kernels_leave_no_memory_behind",
    r"test_aec\.py::test_1000_renders",
    # strength, over many games
    r"test_search\.py::test_mc_beats",
    r"test_search\.py::test_choice_does_not_depend_on_what_the_seat_cannot_see__B02\[llama_llama",
    r"test_baseline\.py::test_baseline_beats",
    # whole commands, killed and resumed, or in another process
    r"test_baselines\.py::test_trying_a_recipe",
    r"test_third_party\.py::test_the_command_lines",
    r"test_passing_study\.py::test_(the_report_is_whole|numbers_do_not_depend)",
    r"test_exact\.py::test_(a_run_writes|a_game_of_another)",
    r"test_decisions\.py::test_the_commands",
    r"test_tournament\.py::test_a_killed",
    r"test_train\.py::test_a_killed",
]
LEFT_OUT = re.compile("|".join(f"(?:{pattern})" for pattern in EXHAUSTIVE))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if LEFT_OUT.search(item.nodeid):
            item.add_marker(pytest.mark.exhaustive)
