# `make run` and `make test` work in a fresh clone with nothing installed but Python 3.11 or newer; `make` lists the rest.

PYTHON  ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
             $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV    ?= .venv
BIN     := $(VENV)/bin
RELEASE ?= sglang==0.5.23
WORKERS ?= 2
PYTEST  := $(BIN)/python -m pytest
OFFLINE := bufgate: its dependencies could not be installed; the first run needs PyPI

.DEFAULT_GOAL := help
.PHONY: help venv run check test lint types imports golden corpus truth receivers learned mutants bench long probe agreement fixes kernels clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.runs  ## audit SGLang 0.5.23 from PyPI (fixtures/engine if PyPI cannot be reached); report in out/
	@BIN=$(BIN) RELEASE=$(RELEASE) sh tests/run_release.sh

check: lint types imports test  ## what has to pass before a commit

test: $(VENV)/.tests  ## unit, fixture, property, golden and packaging tests
	$(PYTEST) -m "not corpus" -n $(WORKERS) --dist loadgroup

lint: $(VENV)/.tests  ## ruff
	$(BIN)/ruff check

types: $(VENV)/.tests  ## mypy --strict
	$(BIN)/mypy

imports: $(VENV)/.tests  ## the import contract
	$(BIN)/lint-imports

golden: $(VENV)/.tests  ## rewrite the golden files and LIMITS.md; review the difference like code
	$(PYTEST) -q --update-golden

corpus: $(VENV)/.tests  ## tests on real releases (fetched from PyPI once)
	$(PYTEST) -m "corpus and not long" -n $(WORKERS) --dist loadgroup -rs

long: $(VENV)/.tests  ## tests that change a whole release and audit it again: fix, hook, review (half an hour; not in CI)
	$(PYTEST) -m long -n $(WORKERS) --dist loadgroup -rs

truth: $(VENV)/.tests  ## a table of the public bugs and look-alikes: what is told of each (../shared/truth; takes long, once)
	@$(BIN)/python -m tests.truth

receivers: $(VENV)/.tests  ## a table of the receivers that are unknown in five releases, by the form in which they are written
	@$(BIN)/python -m tests.receivers

learned: $(VENV)/.tests  ## a table of what `rules learn` finds of the packs that were written by hand, on real releases
	@$(BIN)/python -m tests.learned

mutants: $(VENV)/.tests  ## take the gates of a release out one by one: is what that opens flagged? (two minutes a mutant)
	@$(BIN)/python -m tests.mutants $(RELEASE) --limit 25

bench: $(VENV)/.runs  ## CPU, wall time and peak memory of audits, cold and warm, beside pyrefly; growth of a synthetic tree
	$(BIN)/python -m tests.bench $(RELEASE) sglang==0.5.9

probe: $(VENV)/.probe  ## audit fixtures/engine, run every claim of the report on a simulated GPU; report and evidence in out/
	@BIN=$(BIN) sh tests/run_probe.sh

agreement: $(VENV)/.probe  ## audit RELEASE, run every claim of its report on a simulated GPU; where both disagree (minutes)
	@BIN=$(BIN) RELEASE=$(RELEASE) sh tests/run_agreement.sh

fixes: $(VENV)/.probe  ## a table of public bugs in SGLang before and after their fix, run on a simulated GPU
	@$(BIN)/python -m tests.probed_releases

kernels: $(VENV)/.triton  ## the same with Triton's kernels run in its interpreter, where they read the buffers
	@$(BIN)/python -m tests.probed_releases --interpret

venv: $(VENV)/.tests  ## the virtual environment with everything a developer needs

clean:  ## remove the virtual environment, reports and caches
	rm -rf $(VENV) out dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "bufgate needs Python 3.11 or newer; none found (set PYTHON=...)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e . || { echo "$(OFFLINE)" >&2; exit 2; }
	@touch $@

# PyTorch for CPU where the index has such a build: a tenth of the size. Without NVRTC the kernels are not compiled in tests.
$(VENV)/.probe: | $(VENV)/.runs
	$(BIN)/python -m pip install -q 'torch==2.13.0+cpu' || $(BIN)/python -m pip install -q -e '.[probe]' || \
	  { echo "$(OFFLINE)" >&2; exit 2; }
	-$(BIN)/python -m pip install -q -e '.[nvrtc]'
	@touch $@

$(VENV)/.triton: | $(VENV)/.probe
	$(BIN)/python -m pip install -q -e '.[triton]' || { echo "$(OFFLINE)" >&2; exit 2; }
	@touch $@

$(VENV)/.tests: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[dev]' || { echo "$(OFFLINE)" >&2; exit 2; }
	@touch $@ $(VENV)/.runs
