# make install   .venv with everything pinned
# make play      a table in the browser: play, watch, replay     (ARGS="--port 8081 --no-browser")
# make train     train an agent and measure it        (GAME=lama ARGS="--num-players 3")
# make test      linters, types and the tests that prove each fact (8 minutes of processor time)
# make test-all  those, and the exhaustive ones: long enumerations, whole commands, instruction counts
# make test-web  the table in a real browser: Debian's Chromium, and axe from npm, both installed if they can be
# make benchmark play the policies against each other and write experiments/reports   (ARGS=--quick: to try it)
# make research  solve small variants, study the games, and write experiments/reports        (ARGS=--quick: to try it)
# make throughput   measure speed beside other suites and write experiments/reports          (ARGS=--quick: to try it)
# make notebooks run the notebooks and write their outputs anew; make test-notebooks only runs them
# make test-ray  those, in .venv-ray: Ray pins an older Gymnasium
PYTHON ?= python3
GAME ?= lama
ARGS ?=
BIN := .venv/bin
RAY := .venv-ray/bin

.PHONY: install play train benchmark research throughput notebooks test test-all test-web test-notebooks test-ray format clean

install: .venv/installed

.venv/playable: pyproject.toml constraints.txt # what the table needs, and no more: the first game begins within a minute
	$(PYTHON) -c "import sys; sys.exit(0 if sys.version_info >= (3, 10) else 'llama-envs needs Python 3.10 or newer')"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[web]'
	touch $@

.venv/installed: .venv/playable
	$(BIN)/python -m pip install --quiet --constraint constraints.txt "$$(grep '^torch==' constraints.txt)"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[train,web,openspiel,ecosystem]' --group dev
	pwd > "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/checkout.pth" # agents, experiments
	touch $@

play: .venv/playable
	$(BIN)/llama-envs table $(ARGS)

train: install
	$(BIN)/python -m experiments.train $(GAME) $(ARGS)

benchmark: install
	$(BIN)/python -m experiments.benchmark $(ARGS)

research: install
	$(BIN)/python -m experiments.exact $(ARGS)
	$(BIN)/python -m experiments.passing_study $(ARGS)
	$(BIN)/python -m experiments.quitting_study $(ARGS)

throughput: .venv/peers
	$(BIN)/python -m experiments.throughput $(ARGS)

.venv/peers: .venv/installed
	-$(BIN)/python -m pip install --quiet --constraint constraints.txt --group peers
	touch $@

notebooks: install
	$(BIN)/python -m experiments.notebooks

test: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not exhaustive"

test-all: test
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "exhaustive and not browser"

.venv/browser: .venv/installed
	command -v chromium || { apt-get update -qq && apt-get install -qq --yes --no-install-recommends chromium; } || true
	npm install --silent --no-fund --no-audit --prefix .venv/node axe-core@4 || true
	touch $@

test-web: .venv/browser
	$(BIN)/python -m pytest -n 2 --dist worksteal -rs -m browser tests/web

test-notebooks: install
	$(BIN)/python -m pytest --nbmake --nbmake-timeout=600 notebooks

.venv-ray/installed: pyproject.toml constraints-ray.txt
	$(PYTHON) -m venv .venv-ray
	$(RAY)/python -m pip install --quiet --upgrade pip
	$(RAY)/python -m pip install --quiet --constraint constraints-ray.txt "$$(grep '^torch==' constraints-ray.txt)"
	$(RAY)/python -m pip install --quiet --constraint constraints-ray.txt --editable '.[ray,train]' pytest
	touch $@

test-ray: .venv-ray/installed
	$(RAY)/python -m pytest tests/rllib

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-ray build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
