# One word each. Everything below works on a machine that has Python >= 3.11, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Tests mostly wait; each worker has a control plane of its own (about 0.8 GB).
WORKERS ?= 3

.PHONY: help setup demo test lint bench docs clean

help:
	@echo "make demo   control plane, controller and two model servers on this machine, from nothing"
	@echo "make test   every test, on a real control plane"
	@echo "make lint   style, types, layers"
	@echo "make bench  the benchmarks, printed as tables"
	@echo "make setup  what the others begin with: .venv with everything in it, lws-volcano too"
	@echo "make docs   regenerate what is generated: CRD, JSON schema, chart schema, kustomize"

setup: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; set PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[test,lint,bench]'
	@touch $(STAMP)

demo: $(STAMP)
	@$(BIN)/python -m deploy.demo

test: $(STAMP)
	$(BIN)/python -m deploy.local build
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(TESTS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m benchmarks

docs: $(STAMP)
	$(BIN)/python crds/generate.py
	$(BIN)/python -m deploy.helm.generate
	@command -v helm >/dev/null && $(BIN)/python -m deploy.kustomize.render || echo "helm is not installed: deploy/kustomize was not rendered"

clean:
	rm -rf $(VENV) build *.egg-info
