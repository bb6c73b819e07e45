# Every command of the project. `make` alone lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
BIN := .venv/bin
STACK := $(BIN)/python -m config.stack
# Tests run in this many processes; the browser's own processes come on top.
JOBS ?= 2
PYTEST_OPTIONS ?=

# For tools that read the settings and never connect.
SETTINGS_ONLY := env \
	SECRET_KEY=only-for-tools-that-never-serve-a-page \
	DATABASE_URL='postgresql://nobody@/none?host=/nowhere' \
	MIGRATE_DATABASE_URL='postgresql://nobody@/none?host=/nowhere' \
	REDIS_URL='redis://localhost:1/0' \
	DJANGO_SETTINGS_MODULE=config.settings.test
# What production must be told; the values only have the right shape.
PRODUCTION_ONLY := env -u DJANGO_ALLOW_ASYNC_UNSAFE \
	SECRET_KEY=a-made-up-key-of-sufficient-length-for-the-check-0123456789 \
	DATABASE_URL='postgresql://app@/market?host=/nowhere' \
	MIGRATE_DATABASE_URL='postgresql://owner@/market?host=/nowhere' \
	REDIS_URL='redis://localhost:1/0' \
	PUBLIC_URL=https://market.example ALLOWED_HOSTS=market.example \
	STRIPE_SECRET_KEY=sk_test_check STRIPE_WEBHOOK_SECRET=whsec_check \
	DJANGO_SETTINGS_MODULE=config.settings.prod

.PHONY: help
help: ## List the commands
	@grep -hE '^[a-z][a-z0-9-]*:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: setup setup-test
setup: ## Make .venv with what the site needs (done by the others)
	@$(PYTHON) -I config/stack/bootstrap.py run

setup-test: ## Make .venv with what the tests need too
	@$(PYTHON) -I config/stack/bootstrap.py test

.PHONY: demo demo-code demo-reset
demo: setup ## Run the whole site on this machine until Ctrl-C
	@exec $(STACK) demo

demo-code: setup ## Print the demo admin's current one-time code
	@$(STACK) demo-code

demo-reset: setup ## Remove everything the demo keeps on this machine
	@$(STACK) demo-reset

.PHONY: run
run: setup-test ## Run CMD="…" beside a throw-away database and broker
	@test -n "$(CMD)" || { echo 'say what to run: make run CMD="…"' >&2; exit 2; }
	@$(STACK) run -- bash -c '$(CMD)'

.PHONY: test test-fast test-long
test: setup-test lint types contracts templates compose deploy-check ## Every check and every test but the long ones
	@$(STACK) run -- $(MAKE) migrations-here build-here pytest-here

test-fast: setup-test messages ## The tests that need no database
	@$(SETTINGS_ONLY) $(BIN)/pytest tests/unit -n 0 -m "not long" $(PYTEST_OPTIONS)

test-long: setup-test ## The long tests: many property examples, kills, races
	@$(STACK) run -- $(MAKE) build-here pytest-long-here

.PHONY: format lint types contracts templates compose deploy-check
TEMPLATES := find templates -name '*.html' -print0 | xargs -0 -r

format: setup-test ## Bring code and templates into their format
	@$(BIN)/ruff format .
	@$(TEMPLATES) $(BIN)/djade --target-version 5.2 || true

lint: setup-test ## Style and format of the code
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet . || { echo 'run: make format' >&2; exit 1; }

types: setup-test ## Types
	@$(SETTINGS_ONLY) $(BIN)/mypy .

contracts: setup-test ## Who may import whom
	@$(SETTINGS_ONLY) $(BIN)/lint-imports

templates: setup-test ## Format and lint of the templates
	@$(TEMPLATES) $(BIN)/djade --target-version 5.2 --check || { echo 'run: make format' >&2; exit 1; }
	@$(BIN)/djlint templates --lint --profile=django --quiet

compose: setup-test ## Shape of docker-compose.yml
	@$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

deploy-check: setup-test ## Django's deployment checks under production settings
	@$(PRODUCTION_ONLY) $(BIN)/python manage.py check --deploy --fail-level WARNING

.PHONY: migrations messages
migrations: setup-test ## No model change without its migration
	@$(STACK) run -- $(MAKE) migrations-here

messages: setup-test ## Build the message catalogues
	@$(SETTINGS_ONLY) $(BIN)/python manage.py build_messages

.PHONY: e2e screens bench
e2e: setup-test ## The tests that drive a browser
	@$(STACK) run -- $(MAKE) build-here pytest-browser-here

screens: setup-test ## Photograph the pages into screens/
	@$(STACK) run -- $(MAKE) build-here screens-here

bench: setup-test ## Measure; ONLY=ledger runs one part
	@$(STACK) run --safe -- $(BIN)/python -m tests.bench $(if $(ONLY),--only $(ONLY))

.PHONY: ci
ci: ## Exactly what CI runs
	@.ci/run

# The parts of the above that need the servers' addresses in the environment.
.PHONY: migrations-here build-here pytest-here pytest-long-here pytest-browser-here screens-here
HERE := env SECRET_KEY=only-for-tests-0123456789-0123456789-0123456789-01 DJANGO_SETTINGS_MODULE=config.settings.test

migrations-here:
	@$(HERE) $(BIN)/python manage.py makemigrations --check --dry-run

build-here:
	@$(HERE) $(BIN)/python manage.py build_messages
	@$(HERE) $(BIN)/python manage.py build_css

pytest-here:
	@$(HERE) $(BIN)/pytest -n $(JOBS) --dist load -m "not long" $(PYTEST_OPTIONS)

# The first failure ends a long run, so that a run cut short by a time limit is known to be good.
pytest-long-here:
	@$(HERE) HYPOTHESIS_PROFILE=long $(BIN)/pytest -n $(JOBS) --dist load -m long --exitfirst $(PYTEST_OPTIONS)

pytest-browser-here:
	@$(HERE) $(BIN)/pytest -n 0 tests/browser $(PYTEST_OPTIONS)

screens-here:
	@$(HERE) $(BIN)/pytest -n 0 tests/browser/screens.py $(PYTEST_OPTIONS)
