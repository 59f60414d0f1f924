# Miss Penalty. `make` lists the targets; each makes the environment in .venv and builds the package when needed.
# They need Python 3.11 or newer with its headers, a C compiler, make, and access to a Python package registry.

PYTHON ?= python3
CORES ?= all
VENV := .venv
BIN := $(VENV)/bin
# TOOLS runs a command with the environment's tools on its path; VENV may be an absolute path.
TOOLS = PATH="$$(CDPATH= cd $(BIN) && pwd):$$PATH"

# Refuse braces in the path here, because Snakemake would report them only after everything is installed and built.
ifneq ($(filter reproduce supplement smoke site report lint,$(MAKECMDGOALS)),)
ifneq ($(findstring {,$(CURDIR))$(findstring },$(CURDIR)),)
$(error $(CURDIR): Snakemake takes braces in a path for a wildcard; move the checkout to a folder without them)
endif
endif

# $(call check,targets,VARIABLE,condition on $$v,what to give) refuses a bad value before any of the targets installs or builds anything.
check = $(if $(filter $(1),$(MAKECMDGOALS)),$(if $(shell v='$($(2))'; { $(3); } 2>/dev/null && echo yes),,$(error $(2)=$($(2)): $(4))))
SWITCH = case "$$v" in ""|yes|1|true|no|0|false) ;; *) exit 1;; esac
IS_PORT = [ "$$v" -ge 0 ] && [ "$$v" -le 65535 ]
FREE = $(PYTHON) -c 'import socket; s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", $(1)))' \
  2>/dev/null || { echo "Port $(1) is taken: $(2)=$$(($(1) + 1))"; exit 1; }
on = $(filter yes 1 true,$(1))
$(call check,reproduce supplement smoke site report verify,CORES,[ "$$v" = all ] || [ "$$v" -ge 1 ],give all or a number of cores: 1 or more)
$(call check,reproduce supplement report verify,OFFLINE,$(SWITCH),give yes (fetch nothing) or no)

# Agg draws figures without a display.
export MPLBACKEND := Agg
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# pip installs the build requirements and uv, and uv installs the rest in seconds instead of a minute. uv does not read pip's
# settings, so it is given those that say where packages come from; settings in environment variables override those in files.
# If uv fails, for example because a registry requires a password that pip takes from a keyring, pip installs the rest as well.
PIP = $(BIN)/python -m pip install --quiet --no-compile
LIKE_PIP = eval "$$($(BIN)/python -m pip config list | sort -r | sed -n -E -e "/='[^']*'$$/!d" -e 's/\\n/ /g' -e 's/^[^.]*\.//' \
  -e 's/^index-url=/export UV_DEFAULT_INDEX=/p' -e 's/^extra-index-url=/export UV_INDEX=/p' \
  -e '/^find-links=/{s/ /,/g;s/^find-links=/export UV_FIND_LINKS=/p}' -e "s/^no-index='(1|true|yes|on)'/export UV_OFFLINE=1/p" \
  -e 's/^cert=/export SSL_CERT_FILE=/p' -e 's/^proxy=/export ALL_PROXY=/p')"
INSTALL = { ($(LIKE_PIP); $(BIN)/uv pip install --quiet --python $(BIN)/python $(1)) || \
  { echo "uv could not install them; pip does, which takes longer"; $(PIP) $(1); }; }

# Jobs start in a third of the time if packages are compiled to bytecode. compileall does this on all cores, even if Python is not
# allowed to write bytecode itself. Skip the half of all code that no job imports, and ignore failures on files for other Pythons.
SPARED := tests?|Cython|mesonbuild|pip|pkg_resources|setuptools|distutils|docutils|git|scipy/signal|pydantic/v1
SPARED := $(SPARED)|sqlalchemy/(dialects/[mop].*|ext|testing)|debugpy|botocore|async_api|mypyc?
COMPILE = { $(BIN)/python -m compileall -q -j 0 -x '/($(SPARED))/' $(1) >/dev/null 2>&1 || true; }

# If the registry cannot be reached, pip only says "No matching distribution found"; this message adds the remedy.
# Lock files are complete, so nothing is resolved.
LOCKED = --no-deps --require-hashes --requirement $<
WHEELS = python3 -m pip download --require-hashes --requirement $(<:-build.lock=.lock) --dest wheels
UNREACHABLE = { echo 'Packages that $< names could not be installed. If no package registry can be reached from here, \
  run "$(WHEELS)" where one can (same system, same Python), copy the folder here, and run \
  PIP_NO_INDEX=1 PIP_FIND_LINKS=wheels make $(1)'; exit 1; }

# List the files that the package is built from and those that it reads once it is installed. This excludes the studies' text of
# the paper, rules, published tables and tests, which are read in the checkout. List folders as well, because only the folder's
# time stamp shows that a source was removed.
SOURCES := pyproject.toml meson.build tools/cython_modules.py \
  $(shell find src studies data/drives data/conformance ! -path '*__pycache__*' ! -name '*.so' ! -path 'studies/*/tests*' \
    ! -path 'data/conformance/sources*' \( -type d -o ! -path 'studies/*' -o -path 'studies/common/site/*' -o -name '*.py' \
    -o -name '*.pyx' -o -name '*.pxd' -o -name '*.h' -o -name meson.build -o -name '*.yaml' \))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Make one target at a time even with `make -j`: otherwise, two targets could install packages into the environment at once, or
# tests could run while the results change. Only the wheel and the environment, for which this file calls make again, are made
# in parallel.
ifeq ($(filter $(VENV)/.wheel,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
.PHONY: help environment build conformance smoke reproduce supplement cost test test-sanitizers test-sdist fuzz drill mutants slurm-test scaling bench bench-giant bench-large lab notebooks docs play site site-serve archive verify report lint lock clean distclean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "  make %-16s %s\n", $$1, $$2 }'

RUN = $(BIN)/python workflow/scripts/reproduce.py --cores $(CORES)
reproduce: build  ## make the papers' tables and figures, the claims and the paper in results/, from the raw traces; fetches registered traces unless OFFLINE=yes; resumes where it was stopped
	$(RUN) $(if $(call on,$(OFFLINE)),--offline)
	$(BIN)/python workflow/scripts/refresh_readme.py

supplement: build  ## do what `make reproduce` does, and also make other conditions, sensitivities, scales, what-ifs and the supplement
	$(RUN) --supplement $(if $(call on,$(OFFLINE)),--offline)
	$(BIN)/python workflow/scripts/refresh_readme.py

cost:  ## write what the last full run cost on this machine into README.md and ARTIFACT.md
	@test -x $(BIN)/python || { echo "There is no environment yet, so nothing was run in this checkout: make reproduce"; exit 1; }
	$(BIN)/python workflow/scripts/refresh_readme.py --cost

smoke: build  ## make the first results of `make reproduce`, and compare them with the archived tables: takes minutes
	$(RUN) --first

test: build $(VENV)/.test  ## run the tests, including an end-to-end run on a small trace
	HYPOTHESIS_STORAGE_DIRECTORY=build/hypothesis PYTHONDONTWRITEBYTECODE=1 \
	  $(BIN)/python -m pytest -o cache_dir=build/pytest_cache --numprocesses auto --dist loadfile --no-loadscope-reorder --durations 20 $(PYTEST_ARGS)

# This build has bounds checks, AddressSanitizer and UndefinedBehaviorSanitizer, which also finds overflows. Two kinds of report are
# off: leaks, because Python does not free all its memory at exit, and mismatches of new and free, which libCacheSim's binding has.
SANITIZED := tests/policies tests/prefetch tests/disks tests/latency tests/replay tests/traces tests/fuzz tests/project/test_kernels.py \
  $(wildcard $(addprefix studies/,hac/tests/test_object*.py hac/tests/test_oo7.py mq/tests/test_storage_server*.py \
  epcm/tests/test_file_client*.py vlog/tests/test_virtual_log*.py vlog/tests/test_file_systems.py vlog/tests/test_eager_models.py \
  sarc/tests/test_array*.py))
test-sanitizers: build $(VENV)/.test  ## run the kernels' tests on a build with sanitizers, bounds and overflow checks
	$(TOOLS) $(BIN)/meson setup build/sanitized --reconfigure --buildtype=debug --optimization=1 \
	  -Db_sanitize=address,undefined -Db_lundef=false --prefix="$(CURDIR)/build/sanitized/root"
	rm -rf build/sanitized/root
	$(TOOLS) $(BIN)/meson install -C build/sanitized --quiet
	LD_PRELOAD="$$($${CC:-cc} -print-file-name=libasan.so) $$($${CC:-cc} -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONDONTWRITEBYTECODE=1 \
	  PYTHONPATH="$$(dirname "$$(find "$(CURDIR)/build/sanitized/root" -type d -name misspenalty -path '*-packages*')")" \
	  HYPOTHESIS_STORAGE_DIRECTORY=build/hypothesis $(BIN)/python -m pytest -o cache_dir=build/pytest_cache $(SANITIZED)

LANGUAGES ?= python,go,javascript,rust,java
conformance: build $(VENV)/.test  ## test whether cache libraries implement the policies they claim (with go, cargo, npm, mvn; languages whose tool is missing are left out)
	$(BIN)/python conformance/run.py --languages $(LANGUAGES)

EXECUTIONS ?= 1000000
$(call check,fuzz,EXECUTIONS,[ "$$v" -ge 1 ],give a number of executions: 1 or more)
fuzz: build $(VENV)/.test  ## run every file reader on mutated inputs: make fuzz EXECUTIONS=1000000
	$(BIN)/python tests/fuzz/fuzz.py --executions $(EXECUTIONS) --csv results/bench/fuzz.csv

KILLS ?= 20
$(call check,drill,KILLS,[ "$$v" -ge 0 ],give a number of kills: 0 or more)
drill: build $(VENV)/.test  ## kill writers and a small run of the whole workflow at random moments, resume, and compare every byte: make drill KILLS=20
	PYTHONPATH=tests $(BIN)/python tools/qa/drill.py --kills $(KILLS) --csv results/bench/drill.csv

COUNT ?= 600
$(call check,mutants,COUNT,[ "$$v" -ge 1 ],give a number of faults: 1 or more)
mutants: build $(VENV)/.test  ## try deliberate faults, and count those that the nearest tests notice; resumes where it was stopped: make mutants COUNT=600
	$(BIN)/python tools/qa/mutants.py --count $(COUNT) --csv results/bench/mutants.csv

slurm-test: build $(VENV)/.test  ## compare a small run of the whole workflow on a real two-node SLURM on this machine (Debian, root) byte by byte with a local one
	PYTHONPATH=tests $(BIN)/python tools/qa/slurm.py --log results/bench/slurm_jobs.txt

scaling: build  ## estimate the time of a full run on 1 to 256 cores from the measured jobs of the last run
	mkdir -p results/bench
	$(BIN)/python benchmarks/scaling.py --csv results/bench/scaling.csv --jobs results/bench/jobs.csv \
	  --figure results/bench/scaling.png

test-sdist: environment  ## build an sdist of the library and a wheel from it, and smoke-test the wheel in a clean environment
	rm -rf build/sdist
	$(PYTHON) -m venv build/sdist/venv
	build/sdist/venv/bin/python -m pip install --quiet build || \
	  { echo "The package build could not be installed: make test-sdist needs a package registry that pip can reach"; exit 1; }
	build/sdist/venv/bin/python -m build --outdir build/sdist/dist .
	@test $$(cat build/sdist/dist/*.tar.gz | wc -c) -lt 5000000 || \
	  { echo "The sdist in build/sdist/dist has 5 MB or more: keep what only the repository needs out of it (KEPT in tools/sdist.py)"; exit 1; }
	build/sdist/venv/bin/python -m pip install --quiet build/sdist/dist/*.whl
	cd build/sdist && venv/bin/python "$(CURDIR)/tools/smoke_test.py"

bench: build $(VENV)/.test  ## measure speed, memory and agreement, compared with libCacheSim, in results/bench (benchmarks/README.md)
	for workload in zipf oltp p6; do \
	  $(BIN)/python benchmarks/policies.py --workload $$workload --csv results/bench/policies-$$workload.csv || exit 1; \
	done
	$(BIN)/python benchmarks/figure.py results/bench/policies-*.csv --output results/bench/policies.png
	$(BIN)/python benchmarks/library.py --csv results/bench/library.csv
	$(BIN)/python benchmarks/sampling.py --csv results/bench/sampling.csv
	$(BIN)/python benchmarks/agreement.py literature --csv results/bench/literature.csv
	$(BIN)/python benchmarks/agreement.py simulator --csv results/bench/simulator.csv
	$(BIN)/python benchmarks/disks.py speed --csv results/bench/disks.csv
	$(BIN)/python benchmarks/disks.py demerit --csv results/bench/demerit.csv
	$(BIN)/python benchmarks/disksim.py --csv results/bench/disksim.csv

bench-giant: build $(VENV)/.test  ## measure time per request and memory of replaying a billion requests, compared with 10 million: takes minutes
	$(BIN)/python benchmarks/library.py --giant --csv results/bench/giant.csv

bench-large: build $(VENV)/.test  ## measure time and memory of compiling, replaying and sampling 1, 10 and 100 million requests: takes minutes
	mkdir -p results/bench
	$(BIN)/python benchmarks/large.py --csv results/bench/large.csv --sampled results/bench/large_sampled.csv \
	  --figure results/bench/large.png

LAB_PORT ?= 8888
$(call check,lab,LAB_PORT,$(IS_PORT),give the number of a port: at most 65535)
lab: build $(VENV)/.lab  ## start JupyterLab with the notebooks on http://127.0.0.1:8888 (LAB_PORT=…); running a notebook changes no file
	@$(call FREE,$(LAB_PORT),make lab LAB_PORT)
	$(BIN)/jupyter lab --config=tools/lab/jupyter_server_config.py --ip=127.0.0.1 --port=$(LAB_PORT) --ServerApp.port_retries=0 \
	  --notebook-dir=. --LabApp.default_url=/lab/tree/notebooks/00-start-here.ipynb \
	  $$([ "$$(id -u)" != 0 ] || echo --allow-root --no-browser)

notebooks: build $(VENV)/.lab  ## run the notebooks and save them with their outputs
	$(BIN)/python tools/notebooks.py

docs: build $(VENV)/.docs  ## build the documentation, in build/docs/index.html
	$(BIN)/python -m sphinx -W --keep-going -q -d build/doctrees docs build/docs

# Zig's C compiler is 90 MB, so only this target and the test of its output install it.
play: build  ## build the site's page "Press play", in build/play: the package as WebAssembly (needs npm)
	@npm --version >/dev/null 2>&1 || { echo "npm is needed, which fetches Pyodide: install npm (Debian, Ubuntu) or nodejs (Fedora)"; exit 1; }
	@$(call INSTALL,--require-hashes --requirement tools/play-requirements.txt) || \
	  { echo "Zig's C compiler (tools/play-requirements.txt) could not be installed: make play needs a package registry that pip can reach"; exit 1; }
	$(BIN)/python tools/play.py --out build/play

site: build docs play $(VENV)/.lab  ## build the site of the archived results, in results/site/index.html: claims, figures, files, notebooks, documentation
	$(BIN)/snakemake --cores $(CORES) --quiet all --allowed-rules index study_readings readings -- readings
	rm -rf build/notebooks
	$(BIN)/python tools/notebooks.py --html build/notebooks
	$(BIN)/python -m misspenalty_studies.common.site --out results/site --with notebooks=build/notebooks --with docs=build/docs \
	  --with play=build/play

PORT ?= 8000
$(call check,site-serve,PORT,$(IS_PORT),give the number of a port: at most 65535)
site-serve:  ## serve the site on http://127.0.0.1:8000 (PORT=…)
	@test -f results/site/index.html || { echo "There is no site yet: make site"; exit 1; }
	@$(call FREE,$(PORT),make site-serve PORT)
	$(PYTHON) -m http.server --bind 127.0.0.1 --directory results/site $(PORT)

archive: build  ## pack the results with checksums of all files (RO-Crate), in build/archive/misspenalty-results-<version>.zip
	$(BIN)/python -m misspenalty_studies.common.reporting.archive write

$(call check,verify,RERUN,$(SWITCH),give yes (reproduce the results first) or no)
# Without an archive, this target stops before it builds or runs anything.
verify: $(if $(ARCHIVE),$(if $(shell test -f "$(ARCHIVE)" && echo yes),$(if $(call on,$(RERUN)),reproduce,build)))  ## compare an archive file by file with this checkout; RERUN=yes reproduces the results first: make verify ARCHIVE=….zip
	@test -n "$(ARCHIVE)" || { echo "Name the archive: make verify ARCHIVE=misspenalty-results-….zip"; exit 2; }
	@test -f "$(ARCHIVE)" || { echo "There is no file $(ARCHIVE): name the archive, make verify ARCHIVE=misspenalty-results-….zip"; exit 2; }
	$(BIN)/python -m misspenalty_studies.common.reporting.archive verify "$(ARCHIVE)"

report: reproduce $(VENV)/.docs  ## make results/report.html: figures, run times and code in one self-contained page
	$(BIN)/snakemake --report results/report.html

lint: build $(VENV)/.test  ## check the style of the code and the workflow
	$(BIN)/ruff check --cache-dir build/ruff_cache .
	$(BIN)/ruff format --cache-dir build/ruff_cache --check src studies tests workflow data
	$(BIN)/mypy --cache-dir build/mypy_cache
	$(BIN)/numpydoc lint $$(find src studies -name '*.py' ! -path '*/tests/*')
	$(BIN)/codespell
	$(BIN)/rumdl check --quiet --no-cache .
	$(BIN)/zizmor --quiet --offline .github
	$(BIN)/repo-review --show err .
	$(BIN)/snakefmt --check Snakefile workflow studies
	$(BIN)/snakemake --lint

build: $(VENV)/.package  ## build the package and install it into .venv

environment: $(VENV)/.environment  ## make .venv with the packages that a run needs (requirements.lock)

# The group `test` includes all others and is resolved first. uv keeps versions that it finds in its output file, so every other
# lock starts as a copy of requirements-test.lock and gets the same versions.
RESOLVE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header
lock: $(VENV)/.compilers  ## make requirements*.lock again from the groups of pyproject.toml
	$(RESOLVE) --upgrade --group test --output-file requirements-test.lock
	for group in build run docs lab; do lock=requirements-$$group.lock; [ $$group = run ] && lock=requirements.lock; \
	  cp requirements-test.lock $$lock && $(RESOLVE) --group $$group --output-file $$lock || exit 1; done

clean:  ## delete builds, and everything in results/ except the archived tables and figures
	rm -rf build .snakemake results/traces results/*/runs results/logs \
	  results/benchmarks results/bench results/notebooks results/site
	rm -f results/manifest.json results/manifest_supplement.json results/report.html $(VENV)/.package $(VENV)/.wheel
	find results -name '.*.partial*' -exec rm -rf {} +

distclean: clean  ## clean, and delete .venv
	rm -rf $(VENV)

$(VENV)/.created:
	@$(PYTHON) --version >/dev/null 2>&1 || \
	  { echo "There is no $(PYTHON) here: install Python 3.11 or newer, or name one: make PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) --version): name another, make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import pathlib, sysconfig, sys; sys.exit(not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists())' || \
	  { echo "Python's headers are missing: install python3-dev (Debian, Ubuntu) or python3-devel (Fedora)"; exit 1; }
	@for compiler in "$${CC:-cc}" gcc clang; do $$compiler --version >/dev/null 2>&1 && exit 0; done; \
	  echo "A C compiler is needed: install gcc or clang, or name one: make CC=…"; exit 1
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Making $(VENV)"; rm -rf $(VENV); $(PYTHON) -m venv $(VENV); } || \
	  { echo "No virtual environment could be made: install python3-venv (Debian, Ubuntu)"; exit 1; }
	@touch $@

# Install the build requirements first, so that kernels compile while the other packages are installed.
$(VENV)/.compilers: requirements-build.lock | $(VENV)/.created
	@$(PIP) $(LOCKED) || $(call UNREACHABLE,build)
	@touch $@

$(VENV)/.environment: requirements.lock | $(VENV)/.compilers
	@echo "Installing the locked packages"
	@$(call INSTALL,$(LOCKED)) || $(call UNREACHABLE,build)
	@$(call COMPILE,$(VENV)/lib)
	@touch $@

# These packages are needed only for the tests, the documentation or the notebooks.
$(VENV)/.test $(VENV)/.docs $(VENV)/.lab: $(VENV)/.%: requirements-%.lock | $(VENV)/.package
	@echo "Installing the locked packages of $<"
	@$(call INSTALL,$(LOCKED)) || $(call UNREACHABLE,$*)
	@$(call COMPILE,$(VENV)/lib)
	@touch $@

# A compiled kernel left among the sources would be installed over the one built here, so such files are deleted first. The wheel
# is kept next to its time stamp, so that deleting the folder build does not remove it, and no other environment's wheel replaces
# it. MAKEFLAGS is empty because ninja would report an error about make's job server, which it cannot reach through pip.
TAG = cp$$($(BIN)/python -c 'import sys; print(*sys.version_info[:2], sep="")')
$(VENV)/.wheel: $(VENV)/.compilers $(SOURCES)
	@echo "Building the package"; find src studies -name '*.so' -delete; rm -rf $(VENV)/wheels
	@$(TOOLS) MAKEFLAGS= $(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --no-cache-dir \
	  --wheel-dir $(VENV)/wheels --config-settings=build-dir=build/wheel-$(TAG) . || { rm -rf build/wheel-$(TAG); exit 1; }
	@touch $@

# If the package is installed in editable mode, it stays in that mode, and only its kernels are updated. `make --dry-run` runs
# even the line that calls make, so this line does nothing else.
EDITABLE = ls $(VENV)/lib/python*/site-packages/_misspenalty_editable_loader.py >/dev/null 2>&1 && [ -d build/$(TAG) ]
$(VENV)/.package: $(VENV)/.compilers requirements.lock $(SOURCES)
	@$(MAKE) --silent --no-print-directory --jobs=2 $(VENV)/.environment $$({ $(EDITABLE); } || echo $(VENV)/.wheel)
	@if $(EDITABLE); then \
	  echo "Bringing the editable build up to date" && $(TOOLS) ninja -C build/$(TAG); \
	else \
	  $(PIP) --no-deps --force-reinstall $(VENV)/wheels/misspenalty-*.whl && \
	  $(call COMPILE,$(VENV)/lib/python*/site-packages/misspenalty*); \
	fi
	@touch $@
