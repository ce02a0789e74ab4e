# Every target works alone on a clean clone: it makes .venv and installs what it needs, once.

PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$python; break; }; done)

BIN := .venv/bin
# Each worker begins at a place of its own and takes over what the other has left: neighbouring tests,
# which use the same kernels, are then run by one worker, and few kernels are compiled by both.
# Bytecode is kept, whatever the environment says: tests start some forty interpreters.
PYTEST := OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal
# What a person waits for; the check that gates a change (.ci/run) also runs studies and browser.
TESTS ?= not slow and not study and not browser
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: demo test test-studies test-slow lint docs bench clean help

demo: .venv/core.stamp  ## Select among 64 variables of the diabetes table; leaves garrote-demo.html
	$(BIN)/garrote demo

test: lint  ## Lint, then run the tests
	$(if $(findstring not browser,$(TESTS)),,@scripts/install_browser.sh)
	$(PYTEST) -m '$(TESTS)'

test-studies: .venv/dev.stamp  ## Published studies, and the report in a browser
	@scripts/install_browser.sh
	$(PYTEST) -m '(study or browser) and not slow'

test-slow: .venv/dev.stamp  ## The tests marked slow: statistics, and variants of the others
	$(PYTEST) -m slow

lint: .venv/dev.stamp  ## Style, format, layers and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

docs: .venv/docs.stamp  ## Build the documentation into build/docs; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going --quiet -d build/doctrees docs build/docs
	@echo "The documentation is in build/docs/index.html."

bench: .venv/bench.stamp  ## Compare with other libraries
	$(BIN)/python benchmarks/run.py

clean:  ## Remove .venv and every cache
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
	rm -rf docs/gallery docs/generated
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "garrote needs Python 3.11 or later, and none was found:" \
		"install one, or name it: make PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv .venv

# An installation is repeated only when pyproject.toml changes.
.venv/core.stamp: pyproject.toml | .venv/bin/python
	$(PIP) --editable '.[cli,report]'
	@touch $@

.venv/dev.stamp: pyproject.toml | .venv/bin/python
	$(PIP) --editable '.[cli,report,plot,test,lint]'
	@touch $@ .venv/core.stamp

.venv/docs.stamp: pyproject.toml | .venv/bin/python
	$(PIP) --editable '.[docs]'
	@touch $@ .venv/core.stamp

.venv/bench.stamp: pyproject.toml | .venv/bin/python
	$(PIP) --editable '.[bench]'
	@touch $@ .venv/core.stamp
