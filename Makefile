# Atoll: every command of the house. `make help` lists them.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
LISTEN ?= 127.0.0.1:8000

.DEFAULT_GOAL := help
.PHONY: help setup run build test test-long test-vm check build-times house-figures bench conformance sanitize fuzz coverage wheel install deb tarball image docs format lint clean

help:  ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## Install what is missing to build (Debian packages and npm)
	@scripts/setup build

build: setup  ## Build build/atoll
	@[ -f build/build.ninja ] || cmake --preset release
	@ninja -C build -j $(JOBS) atoll

run: build  ## Set up, build and serve on 127.0.0.1:8000
	@exec build/atoll serve --listen $(LISTEN)

test:  ## Set up, build and run every test
	@scripts/test

test-long:  ## Soak, crash rounds, emulated machines
	@scripts/test long

test-vm:  ## The suite under cgroup v2 in an emulated machine
	@scripts/test vm

check:  ## Layers, long functions, casts, retired words: a second's work
	@scripts/check-layers
	@scripts/check-style

house-figures:  ## Comments, owners, lengths and fixed sleeps by room
	@scripts/house-figures

build-times:  ## Compile time by room, from the last build's log
	@scripts/build-times

bench:  ## Measure, and write bench/RESULTS.md
	@scripts/bench

conformance: build  ## The official E2B SDKs against this build
	@scripts/conformance

sanitize:  ## Unit tests under ASan+UBSan and TSan
	@scripts/sanitize

fuzz:  ## Run every fuzz target for FUZZ_SECONDS each (default 60)
	@scripts/fuzz

coverage:  ## Line coverage of the unit tests
	@scripts/coverage

wheel: setup  ## Put the Python package's wheels into build/wheels
	@scripts/wheel

install: build  ## Install into PREFIX (default /usr/local); DESTDIR is heeded
	@scripts/install $(PREFIX)

deb: build  ## Put a Debian package into build/packages
	@scripts/package deb

tarball: build  ## Put an archive for other distributions into build/packages
	@scripts/package tarball

image: deb  ## Put an OCI image of the service into build/packages
	@scripts/image

docs: build  ## Build the documentation site, with the references of both client libraries, into build/site
	@scripts/setup docs
	@scripts/docs
	@scripts/site

format:  ## Format the C++ sources
	@git ls-files '*.cc' '*.h' | xargs clang-format -i

lint:  ## clang-tidy on changed files, shellcheck, layer check
	@scripts/lint

clean:  ## Remove what was built
	@rm -rf build build-alone build-lint build-debug build-asan build-tsan build-coverage build-fuzz
