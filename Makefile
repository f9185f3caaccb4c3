# The one entry to everything: `make help` lists it.
.DEFAULT_GOAL := help
SHELL := /bin/sh
CARGO ?= cargo
# Arguments for `api up` in `make run` and for the benchmark, for `cargo test` in `make test`; the rows and the folder of
# data sets for `make bench`.
ARGS ?=
TESTS ?= --workspace
ROWS ?=
DATA ?=
TARGET = $(or $(CARGO_TARGET_DIR),target)
# Two tests for each processor: most of them wait for a database or a service.
TEST_THREADS ?= $(shell expr 2 '*' "$$(getconf _NPROCESSORS_ONLN)")

.PHONY: help run test shots ci fmt lint doc deny migrations openapi schemathesis bench geoip clean setup servers

help: ## List what can be made
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -e 's/:.*## /\t/' | while IFS="$$(printf '\t')" read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

run: setup ## Build and run the service with a demo shop, on a Postgres of its own (ARGS='--help')
	$(CARGO) run --profile quick -p server --features dev --bin api -- up $(ARGS)

test: setup servers ## Run every test, on a throw-away Postgres (TESTS='-p store' for some of them)
	$(CARGO) test $(TESTS) -p testkit --no-run
	RUST_TEST_THREADS=$(TEST_THREADS) $(TARGET)/debug/with-postgres $(CARGO) test $(TESTS)

shots: setup servers ## Picture every page of the dashboard, in all languages and themes, to target/shots
	$(CARGO) test -p blackbox -p testkit --no-run
	PICTURES='$(abspath $(TARGET))/shots' BROWSER=required $(TARGET)/debug/with-postgres $(CARGO) test -p blackbox --test browser

ci: lint doc deny test ## Everything that has to pass before a change lands

fmt: ## Format the code
	$(CARGO) fmt --all

lint: ## Check the format, and clippy without a warning
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --lib --bins --tests -- -D warnings
	@echo 'Checking the server as it ships, without the feature `dev`'
	@said="$$($(CARGO) check -q -p server 2>&1)" && test -z "$$said" || { printf '%s\n' "$$said"; exit 1; }

# Nothing is published: the documentation is for who reads the code, so it may link to what is private. Of what ships: with the
# features of the server, whose check is used again.
doc: ## Check that the documentation of the code builds without a warning
	RUSTDOCFLAGS='-D warnings -A rustdoc::private_intra_doc_links' $(CARGO) doc -q --workspace --lib --no-deps \
		--exclude blackbox --exclude bench --exclude devtools

# What the tests check holds without cargo-deny: the arrows between crates, bans, licences, sources, unused dependencies.
deny: ## Check which crate may use which, the banned and unused packages, licences, sources and advisories
	$(CARGO) test -q $(TESTS) -p testkit --test it dependencies
	@scripts/deny.sh

migrations: ## Record the checksums of new migrations in migrations.sha256
	sha256sum migrations/*/*.sql > migrations.sha256

openapi: ## Write the OpenAPI document to docs/openapi.json
	$(CARGO) run -q --bin api -- openapi > docs/openapi.json.new
	mv docs/openapi.json.new docs/openapi.json

schemathesis: setup ## Hold a running service to its OpenAPI document, with Schemathesis from PyPI (some minutes)
	@scripts/schemathesis.sh

# Writes docs/benchmarks.md. With DATA, the quality of the analytics as well: one protocol after the other; each prints a
# line of JSON per figure.
bench: setup ## Measure the service (ROWS=customers,track for some rows), and the analytics on the data sets in DATA=dir
	@scripts/setup-bench.sh
	$(CARGO) build --release -p server -p bench --bin api --bin service
	$(TARGET)/release/service $(if $(ROWS),--rows '$(ROWS)') $(ARGS)
	@if [ -n '$(DATA)' ]; then for protocol in anomalies causes demand stock reorder season risks stories take-offs creatives replies customers; do \
		$(CARGO) run -q --release -p bench --bin analytics -- --data $(DATA) $$protocol || exit 1; \
	done; fi

geoip: ## Fetch the DB-IP city files into data/geoip, for `BAS_GEOIP_DATABASE`
	@scripts/setup-geoip.sh

clean: ## Remove what was built; the data folder stays
	$(CARGO) clean

setup:
	@scripts/setup-postgres.sh

servers:
	@scripts/setup-servers.sh
