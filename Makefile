# The front door: `make run` and `make test` do everything on a fresh Debian or Ubuntu. The build itself
# is Meson's (meson.build).

BUILD ?= build
PREFIX ?= /usr/local
# Of the prefix: where linkers and pkg-config of Debian look, too. For /usr on Fedora it is lib64.
LIBDIR ?= lib
WERROR ?= false
MESON_FLAGS ?=
PORTABLE_TARGETS ?=
# make test TESTS="--suite unit cli/run"; TESTS=changed: what the changes since the last commit touch
TESTS ?=

.DEFAULT_GOAL := all
.PHONY: all everything configure deps report-page report-test-deps screenshots run test test-python asan valgrind ci-full bench accuracy torture fuzz deb portable try-container check-daemonset check-dashboard gpu-check-kit dist reproducible site install uninstall format check-format clean help

all: configure ## build the command, the libraries and the Python package into build/
	@# Whatever optional part is left out, and why: meson setup says it among much else.
	@test -f $(BUILD)/gpu-tracker || grep -oE '(The|HTML) [A-Za-z ]+ (is|are) not built.*' $(BUILD)/meson-logs/meson-log.txt >&2 || true
	@tools/compile.sh $(BUILD) product

everything: all ## build the tests, too
	@tools/compile.sh $(BUILD)

configure: deps
	@test -f $(BUILD)/build.ninja || { echo "Configuring $(BUILD)/" >&2 && \
		meson setup $(BUILD) --prefix=$(PREFIX) --libdir=$(LIBDIR) -Dwerror=$(WERROR) $(MESON_FLAGS) >/dev/null; } || \
		{ cat $(BUILD)/meson-logs/meson-log.txt; exit 1; }
	@# A folder that is there keeps its options, but for one that is asked for.
	@test "$(origin WERROR)" = file || meson configure $(BUILD) -Dwerror=$(WERROR)

deps: ## install the Debian packages that are missing
	@tools/install-deps.sh

report-page: ## build the page of HTML reports into web/dist/ (needs Node.js 18 and npm: tools/install-deps.sh --report)
	@tools/report-page.sh

report-test-deps: ## install what the tests of that page need: Node.js, Chromium, npm packages
	@tools/install-deps.sh --report-tests
	@tools/web-packages.sh --tests

screenshots: report-test-deps everything ## record sessions and take the pictures in docs/screenshots: PICTURES="run gpu" takes these
	@node web/tests/screenshots.mjs $(BUILD) docs/screenshots $(PICTURES)

run: configure ## build the command, then track a small real program and show what it used
	@tools/compile.sh $(BUILD) gpu-tracker examples/busy-program
	$(BUILD)/gpu-tracker run --st 0.1 -- $(BUILD)/examples/busy-program

test: $(if $(filter changed,$(TESTS)),configure,everything) ## build and run every test
	@tools/run-tests.py $(BUILD) $(TESTS)

test-python: everything ## the Python tests with pandas, Jupyter, pytest and type checks, in an environment of their own
	@tools/test-python.sh $(BUILD)

asan: ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(MAKE) BUILD=build-asan MESON_FLAGS="-Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 -Dc_args=-g1" everything
	@ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:handle_sigill=1 LSAN_OPTIONS=suppressions=$(CURDIR)/tests/leaks-of-libraries.txt:print_suppressions=0 tools/run-tests.py build-asan $(TESTS)

valgrind: everything ## the unit tests under valgrind (leaks are found by asan, which knows what a fork left)
	@tools/run-tests.py $(BUILD) --suite unit --no-suite sources -t 20 --wrapper 'valgrind -q --error-exitcode=9 --vgdb=no --read-inline-info=no'

ci-full: ## all that has to pass before a change lands, and what runs less often: valgrind, the core, packages
	@.ci/run full

bench: ## measure cost against floors and peers; prints a table of ratios
	@$(MAKE) BUILD=build-bench MESON_FLAGS="-Dbuildtype=release -Dbenchmarks=true -Dtests=false" everything
	@bench/run.sh build-bench

accuracy: everything ## hold us and other tools against programs whose use is known; writes docs/accuracy.md
	@tools/accuracy.py $(BUILD) -o docs/accuracy.md

torture: everything ## kill, starve and cheat every command in large; writes docs/faults.md (about half an hour)
	@tests/faults/torture.py $(BUILD) -o docs/faults.md --seconds 40

fuzz: ## feed every parser with broken input (FUZZ_SECONDS each)
	@tools/fuzz.sh

dist: ## make the source archive with all that npm builds, in build-dist/, and build from it without a network
	@tools/make-dist.sh build-dist

reproducible: ## build what is published twice, in different folders, and compare
	@tools/compare-builds.sh build-reproducible

deb: ## build the Debian packages into build-deb/, and try them in a minimal Debian
	@tools/build-deb.sh build-deb

portable: ## build the command for machines that install nothing, x86-64 and aarch64, into build-portable/dist/
	@tools/portable/build.sh build-portable $(PORTABLE_TARGETS)
	@tools/portable/check.py build-portable/dist

try-container: ## build the container images from what `make portable` made, and start them (podman)
	@tools/try-container.sh build-portable/dist

check-daemonset: ## compare the DaemonSet with the schemas of Kubernetes (a program of PyPI, in build-daemonset/)
	@test -x build-daemonset/bin/kubernetes-validate || { python3 -m venv build-daemonset && \
		build-daemonset/bin/pip install --quiet kubernetes-validate; }
	@build-daemonset/bin/kubernetes-validate --strict packaging/kubernetes/daemonset.yaml

check-dashboard: ## compare the dashboard with Grafana's types (of npm, in build-dashboard/)
	@tools/check-dashboard.sh build-dashboard

gpu-check-kit: ## one folder, build-gpu-check-kit/, that holds gpu-tracker against a real NVIDIA GPU elsewhere
	@tools/portable/build.sh build-portable x86_64-linux-gnu.2.17
	@tools/gpu-check/make-kit.sh build-portable build-gpu-check-kit

site: ## make the documentation site in build-site/site/; every link is checked
	@tools/make-site.sh build-site

install: all ## install the command, the library and its headers below PREFIX (the Python package: pip)
	@tools/install.sh $(BUILD) $(PREFIX) $(LIBDIR)

uninstall: ## remove what the last `make install` installed
	@tools/uninstall.sh $(BUILD)

format: ## reformat the C sources
	@git ls-files '*.c' '*.h' | xargs clang-format -i

check-format:
	@git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror

clean: ## remove all build folders
	rm -rf build build-asan build-bench build-fuzz build-fuzz-links build-python build-portable build-deb build-dist build-reproducible build-site build-gpu-check-kit build-daemonset build-dashboard build-arrow

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1: \2/p' Makefile
