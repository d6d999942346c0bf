# make install   .venv with everything pinned
# make train     train an agent and measure it        (GAME=lama ARGS="--num-players 3")
# make test      linters, types and every test
PYTHON ?= python3
GAME ?= lama
ARGS ?=
BIN := .venv/bin

.PHONY: install train test format clean

install: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; sys.exit(0 if sys.version_info >= (3, 10) else 'llama-envs needs Python 3.10 or newer')"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt "$$(grep '^torch==' constraints.txt)"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

train: install
	$(BIN)/python -m experiments.train $(GAME) $(ARGS)

test: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist worksteal

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
