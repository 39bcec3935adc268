# The two commands of the README: `make demo` measures this machine and makes the page, `make test` checks
# the project. Both make their own virtual environment; they need python3 with venv, and nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test benchmarks clean

demo: $(VENV)/.installed
	$(BIN)/study run quick || [ $$? -eq 1 ]  # 1: some trials failed; the page says which
	$(BIN)/study render

test: $(VENV)/.installed-dev
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/check

benchmarks: $(VENV)/.installed-dev
	@for file in help_startup timing_loop turnaround steady_detector; do $(BIN)/python tests/benchmarks/$$file.py || exit 1; done

# A stamp, not bin/python: an attempt without the system's venv package leaves half an environment behind.
$(VENV)/.made:
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip --version
	touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .coverage
