"""A study on Ray: the numbers are those of this process."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray has its own environment: run `make test-ray`")
pytest.importorskip("matplotlib", reason="studies need llama-envs[cli]")

import ray

from experiments.lib.report import run
from experiments.quitting.__main__ import SUBJECT, Options


def test_a_study_finds_the_same_on_ray(ray_folder: str, tmp_path: Path) -> None:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _temp_dir=ray_folder)
    asked = {"only": ("seats",), "num_players": (2,), "deals": 20}
    try:
        run(SUBJECT, Options(**asked, ray=True, out=tmp_path / "ray"))
    finally:
        ray.shutdown()
    run(SUBJECT, Options(**asked, workers=1, out=tmp_path / "here"))
    assert (tmp_path / "ray" / "seats.csv").read_bytes() == (tmp_path / "here" / "seats.csv").read_bytes()
    assert "By Ray" in (tmp_path / "ray" / "report.md").read_text(encoding="utf-8")
