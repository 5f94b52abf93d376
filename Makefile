# The same few commands for people and for CI.
VENV := .venv
ifeq ($(OS),Windows_NT)  # with the shell of Git, which brings sh, touch and rm
PYTHON ?= python
BIN    := $(VENV)/Scripts
EXE    := .exe
else
PYTHON ?= python3
BIN    := $(VENV)/bin
EXE    :=
endif
# Installed extras are marked by a stamp file, so a second run starts at once.
RUN_STAMP  := $(VENV)/.installed-run
DEV_STAMP  := $(VENV)/.installed-dev
BENCH_STAMP := $(VENV)/.installed-bench

.PHONY: facts docs run test lint format stubs bench fuzz clean

run: $(RUN_STAMP)  ## a guided minute with whygrad in the terminal
	$(BIN)/whygrad tour

# One thread for each worker: the workers fill the cores.
test: export OMP_NUM_THREADS := 1
test: export OPENBLAS_NUM_THREADS := 1
# Many tests start an interpreter; what the first of them compiled serves all.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(DEV_STAMP)  ## the whole test suite
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(DEV_STAMP)  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEV_STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

stubs: $(DEV_STAMP)  ## what type checkers and editors read, anew from the op table
	$(BIN)/python -m scripts.stubs

bench: $(BENCH_STAMP)  ## speed against every installed peer, in one run
	$(BIN)/python -m bench

FUZZ ?= 20000
fuzz: $(DEV_STAMP)  ## a long run of random programs against PyTorch: make fuzz FUZZ=100000
	$(BIN)/python -m tests.fuzz --programs $(FUZZ)

facts: $(DEV_STAMP)  ## the numbers that say whether the house is in order
	$(BIN)/python -m scripts.facts

docs: $(DEV_STAMP)  ## rerun what the documents show and write the output back
	$(BIN)/python -m tests.learn.drill.revisions
	$(BIN)/python -m scripts.documents

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache

$(BIN)/python$(EXE):
	$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): pyproject.toml setup.py constraints.txt | $(BIN)/python$(EXE)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[fast,learn]'
	$(BIN)/python -m compileall -q src
	touch $@

$(DEV_STAMP): pyproject.toml setup.py constraints.txt | $(BIN)/python$(EXE)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	$(BIN)/python -m compileall -q src
	touch $@

$(BENCH_STAMP): pyproject.toml constraints.txt | $(BIN)/python$(EXE)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[bench]'
	$(BIN)/python -m compileall -q src
	touch $@
