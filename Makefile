# Everything runs in a virtual environment of its own, .venv, made on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest
# Many tests wait for a process or a file, so three workers keep two cores busy. Neighbours need the
# same kernels and fixtures, so each worker gets a third of the tests in order, and takes others later.
WORKERS := 3
PARALLEL := -n $(WORKERS) --dist worksteal
# Tests that measure time run by themselves; pytest need not read any other files for them.
QUIET := $$(grep -rl "mark\.quiet" tests --include="test_*.py")

# The tests start Python hundreds of times: each start would translate our source again if a variable
# of the environment (images of containers often set it) kept Python from storing the translation.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow coverage lint format paper bench bench-anneal bench-proofs fuzz verified docs clean

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## ?/  make \1\t/' | expand -t 22

demo: $(READY) ## install into .venv and run the demonstration
	@$(BIN)/glasshouse demo

test: $(READY) ## run the fast tests (doctests and the docs' code included)
	$(PYTEST) $(PARALLEL) -m "not slow and not quiet"
	$(PYTEST) -m "quiet and not slow" $(QUIET)

test-slow: $(READY) ## run the long tests: mutations, fuzzing, physics
	$(PYTEST) $(PARALLEL) -m "slow and not quiet"
	$(PYTEST) -m "slow and quiet" $(QUIET)

coverage: $(VENV)/.coverage ## run the fast tests and list lines never reached (compiled code does not count)
	$(PYTEST) -m "quiet and not slow" --cov --cov-report= $(QUIET)
	$(PYTEST) $(PARALLEL) -m "not slow and not quiet" --cov --cov-append --cov-report=term:skip-covered --cov-report=html

lint: $(READY) ## check style, imports and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# For instance: make paper FIGURES=offset SCALE=1
FIGURES := dispersion intersections excitations ratio frustration offset structured hardness-peak rbm
SCALE := 0.01
paper: $(READY) ## measure the paper's figures again, into build/paper (FIGURES, SCALE)
	for figure in $(FIGURES); do $(BIN)/python -m paper $$figure --scale $(SCALE) -o build/paper || exit; done

bench: $(VENV)/.bench ## measure against the peers, results in benchmarks/results
	$(BIN)/python -m benchmarks

bench-anneal: $(VENV)/.bench ## measure the annealer only
	$(BIN)/python -m benchmarks anneal anneal_scale

bench-proofs: $(VENV)/.bench ## measure the proofs only (a minute per solver and instance)
	$(BIN)/python -m benchmarks proofs

# For instance: make fuzz SECONDS=60 TARGETS="wcnf cert"
SECONDS := 900
EXECUTIONS := 1000000
TARGETS :=
fuzz: $(VENV)/.fuzz ## look for files that do harm, 15 minutes per target (SECONDS, EXECUTIONS, TARGETS)
	$(BIN)/python -m fuzz --seconds $(SECONDS) --executions $(EXECUTIONS) $(TARGETS)

# In the order in which they need each other.
COQ := Statement Tree Polynomials Bricks Cover Order Leaves Trie Cores Check Reading Correctness Extraction
VERIFIED := build/verified
verified: $(VERIFIED)/glasshouse-verified ## prove the checker of verified/ correct with Coq, and build it into build/verified

$(VERIFIED)/glasshouse-verified: $(COQ:%=verified/%.v) verified/exact.ml verified/main.ml
	@command -v coqc >/dev/null && [ -e "$$(ocamlfind query zarith 2>/dev/null)/z.cmi" ] || \
	  { echo "Coq, ocamlfind or zarith is missing; install Debian's coq, ocaml-findlib and libzarith-ocaml-dev"; exit 1; }
	rm -rf $(VERIFIED) && mkdir -p $(VERIFIED) && cp $^ $(VERIFIED)
	cd $(VERIFIED) && for file in $(COQ); do coqc -q -Q . Verified $$file.v >$$file.log || exit; done
	cd $(VERIFIED) && cat Correctness.log
	cd $(VERIFIED) && ocamlfind ocamlopt -O3 -w -a -package zarith -linkpkg exact.ml checker.mli checker.ml main.ml -o glasshouse-verified

docs: $(READY) ## build the documentation into build/docs, and run every code block of it
	$(BIN)/python -m sphinx -E -W --keep-going -q -c docs . build/docs
	$(PYTEST) $(PARALLEL) -m "" docs README.md tests/docs --ignore tests/docs/test_site.py
	@echo "build/docs/index.html is the documentation"

clean: ## remove the virtual environment and what was built
	rm -rf $(VENV) build dist htmlcov .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .fuzz
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "glasshouse needs Python 3.11 or newer; say which with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@

$(READY): pyproject.toml | $(VENV)/.made
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

$(VENV)/.coverage: pyproject.toml | $(READY)
	$(BIN)/python -m pip install --quiet --group coverage
	@touch $@

$(VENV)/.bench: pyproject.toml | $(READY)
	$(BIN)/python -m pip install --quiet --group bench
	@touch $@

$(VENV)/.fuzz: pyproject.toml | $(READY)
	$(BIN)/python -m pip install --quiet --group fuzz
	@$(BIN)/python -c 'import atheris' || { echo "atheris has no wheel for this machine; use Linux on x86-64"; exit 1; }
	@touch $@
