# The verbs. Each installs what it lacks (tools/setup.sh), builds, and runs; when all is there, nothing is installed.
#   PYTHON=python3.12      the interpreter that .venv is made of (3.10 or later)
#   NO_SETUP=1             install nothing and make no .venv: use PYTHON and whatever compiler tools are there
#   JOBS=N                 parallel jobs (default: every core)
#   GTEST_SOURCE_DIR=DIR   GoogleTest's sources, where it is not installed
#   UNITY=1                compile the files of a folder together: a build from nothing takes half the time, one of changes longer
#   WERROR=1               the compiler's warnings about our files are errors (the dev preset's default)
#   SECONDS=N              how long `make fuzz` runs
#   ARGS="..."             further arguments of the program that a verb runs
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := all

PYTHON ?= python3
JOBS ?= $(shell nproc)
ARGS ?=
SECONDS ?= 60
preset ?= release
WERROR ?= $(filter dev,$(preset))
export PYTHON

ifdef NO_SETUP
  setup := @true
  py := $(PYTHON)
  export PYTHONPATH := $(CURDIR)/build/python$(if $(PYTHONPATH),:$(PYTHONPATH))
else
  setup := @tools/setup.sh
  py := $(CURDIR)/.venv/bin/python
endif

flags = -DNG_UNITY=$(if $(UNITY),ON,OFF) -DNG_WERROR=$(if $(WERROR),ON,OFF)
configure = >/dev/null cmake --preset $(preset) $(flags) -DNG_PYTHON=ON -DPython_EXECUTABLE="$$(command -v $(py))" \
            -DGTEST_SOURCE_DIR="$(GTEST_SOURCE_DIR)"
build = cmake --build --preset $(preset) -j $(JOBS)

benches = bench-gemm bench-elementwise bench-conv bench-pool bench-nets

.PHONY: all kernels python test test-torch test-jax test-long release sanitize check demo demo-gemm corpus coverage mutants latency fuzz doc lint format $(benches) gpu-check clean help

all: ## build/bin/ngasm, and a .venv that imports nervanagpu (the default)
	$(setup) build python
	@$(configure)
	@$(build) --target ngasm _core

kernels: ## assemble every kernel into build/kernels/*.cubin
	$(setup) build python
	@$(configure)
	@$(build) --target kernels

python: all ## the Python module and libnervanagpu.so

test: export NERVANAGPU_DEVICE := emulator
test: ## every test but the long ones, on the emulator
	$(setup) build python test $(if $(NERVANAGPU_TEST_LONG),release)
	@$(configure) -DNG_REQUIRE_TESTS=$(if $(NO_SETUP),OFF,ON)
	@$(build)
	@failed=0; $(py) tools/check_tree.py && $(py) tools/readme_table.py --check && $(py) tools/toolchain_table.py --check || failed=1; ctest --preset $(preset) -j $(JOBS) $(if $(NERVANAGPU_TEST_LONG),-C long) || failed=1; \
	$(pytest) $(ARGS) || failed=1; \
	NERVANAGPU_EMULATOR_ARCH=sm_52 $(pytest) -q $(both_families) || failed=1; \
	NERVANAGPU_EMULATOR_ARCH=sm_80 $(pytest) -q $(ampere) || failed=1; exit $$failed

# A process a core, where pytest-xdist is there: most tests are small and keep one busy.
pytest = $(py) -m pytest $$($(py) -c 'import xdist' 2>/dev/null && echo --numprocesses $(JOBS) --dist worksteal)

# What also runs on the emulator's sm_80 and, with the kernels for Maxwell, sm_52.
ampere = $(if $(NERVANAGPU_TEST_LONG),$(both_families),\
           $(wildcard $(patsubst %,test/python/*/test_%.py,dot dot_types dot_epilogue products64 conv pool nn expressions)))
both_families = $(wildcard $(patsubst %,test/python/*/test_%.py,dot dot_types dot_bfloat16 dot_epilogue products64 batched_dot grouped_dot \
                   conv pool nn toolchain expressions complex functions functions64 reductions indexing tiles stochastic_round in_place \
                   $(if $(NERVANAGPU_TEST_LONG),random random_expressions layers network factory bfloat16 seeds cudamat)))

test-torch: export NERVANAGPU_DEVICE ?= emulator
test-torch: ## nervanagpu.torch beside PyTorch, which is installed into .venv (some GB: torch's wheel brings CUDA's)
	$(setup) build python test torch
	@$(configure)
	@$(build) --target _core
	@$(py) -m pytest $(ARGS) test/python/frameworks/test_torch*.py test/python/frameworks/test_exchange.py

test-jax: export NERVANAGPU_DEVICE ?= emulator
test-jax: ## nervanagpu.jax beside JAX, which is installed into .venv
	$(setup) build python test jax
	@$(configure)
	@$(build) --target _core
	@$(py) -m pytest $(ARGS) test/python/frameworks/test_jax.py test/python/frameworks/test_jax_structures.py

test-long: export NERVANAGPU_TEST_LONG := 1
test-long: test sanitize ## every test, and the C++ tests once more under sanitizers

release: ## wheels for x86-64 and aarch64, tried, and the sdist, in build/release [ARGS="--python python3.12"]
	$(setup) build python release
	@$(py) tools/release.py --out build/release $(ARGS)

# What gpu_exact draws is enough of its kind; the mutants are the verifier's affair, orders the emulated warps'.
# The release build assembles and packs the kernels, ten times as fast as a sanitized one: templates_test.cpp is that one's part.
sanitize: ## the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer, on the emulator
	$(setup) build test
	@$(configure)
	@$(build) --target kernels
	@>/dev/null cmake --preset asan -DNG_UNITY=ON -DNG_HOST_TOOLS="$(CURDIR)/build/bin" \
	  -DGTEST_SOURCE_DIR="$(GTEST_SOURCE_DIR)" -DNG_REQUIRE_TESTS=$(if $(NO_SETUP),OFF,ON)
	@cmake --build --preset asan -j $(JOBS)
	@env -u NERVANAGPU_TEST_LONG NERVANAGPU_DEVICE=emulator NG_GPU_PROBLEMS=640 \
	  ctest --preset asan -j $(JOBS) -E '^(gpu_exact_.*|gpu_cublas|gpu_cudnn|mutants|.*_order_.*)$$'

mutants: ## kernels with one control field changed: verify against checked runs; on a GPU against the chip (EACH=N each)
	$(setup) build
	@$(configure)
	@$(build) --target mutants
	@build/bin/mutants --each $(or $(EACH),600) $(ARGS)
	@if [ "$${NERVANAGPU_DEVICE:-}" = cuda ]; then $(py) benchmarks/mutants.py --each $(or $(EACH),620) --dangerous --out build/mutants.json; fi
	@$(py) tools/toolchain_results.py mutants >/dev/null && $(py) tools/toolchain_table.py

latency: ## measure sm_90a's latencies by fault injection on this machine's GPU, into build/latency.json
	$(setup) build
	@$(configure)
	@$(build) --target ngasm
	@$(py) benchmarks/latency.py --ngasm build/bin/ngasm --folder build/latency --out build/latency.json

corpus: all ## compare the instruction table with NVIDIA's tools: make corpus NVTOOLS=DIR (ptxas and nvdisasm 12.4) [ARGS="--arch sm_90a"]
	@$(py) tools/harvest/corpus.py --nvtools $(NVTOOLS) --ngasm build/bin/ngasm --build build/corpus \
	  --json build/corpus/corpus.json $(ARGS)
	@[ -n "$(ARGS)" ] || $(py) tools/toolchain_results.py corpus
	@$(py) tools/toolchain_table.py

coverage: ## count rows and opcode values of each architecture, into benchmarks/results/toolchain/coverage.json
	$(setup) build
	@$(configure)
	@$(build) --target ngasm
	@$(py) tools/toolchain_results.py coverage
	@$(py) tools/toolchain_table.py

fuzz: ## hostile input for SECONDS in all: templates, assembler text, words, cubins, files of weights and choices, under sanitizers (clang)
	$(setup) build fuzz
	@>/dev/null cmake --preset fuzz $(flags)
	@cmake --build --preset fuzz -j $(JOBS) --target fuzzers
	@$(py) tools/fuzz.py --seconds $(SECONDS) $(ARGS)

demo: ## train a convolutional network on handwritten digits, on the device that is there
	$(setup) build python demo
	@$(configure)
	@$(build) --target _core
	@$(py) examples/digits_network.py $(ARGS)

demo-gemm: ## classify handwritten digits with one fused GEMM, on the device that is there
	$(setup) build python demo
	@$(configure)
	@$(build) --target _core
	@$(py) examples/digits.py $(ARGS)

doc: ## the documentation, into build/doc
	$(setup) build python doc
	@$(configure)
	@$(build) --target ngasm
	@$(py) -m sphinx -q -W --keep-going -b html docs build/doc
	@echo "build/doc/index.html"

lint: ## formatting, clang-tidy, ruff, mypy, direction of includes (CHANGED=1: only what differs from main)
	$(setup) build python lint
	@JOBS=$(JOBS) PY=$(py) tools/lint.sh $(if $(CHANGED),--changed)

format: ## reformat C++ and Python
	$(setup) lint
	@git ls-files -z '*.h' '*.hpp' '*.cpp' | xargs -0 -r clang-format -i
	@$(py) -m ruff format -q .
	@$(py) -m ruff check -q --fix .

bench-gemm: ## GEMM beside cuBLAS, if a GPU and cuBLAS are there
bench-elementwise: ## expressions beside PyTorch and CuPy, if they are there
bench-conv: ## convolutions beside cuDNN, if a GPU and PyTorch are there [ARGS="--dtypes float16"]
bench-pool: ## pooling beside PyTorch, if a GPU and PyTorch are there
bench-nets: ## steps of five networks beside PyTorch, if a GPU and PyTorch are there
bench-nets: script = convnet-benchmarks
$(benches): bench-%:
	$(setup) build python
	@$(configure)
	@$(build) --target _core
	@$(py) benchmarks/$(or $(script),$*).py $(ARGS)

# A GPU machine may have no network: what is there is used. GoogleTest's sources can be named: GTEST_SOURCE_DIR=DIR.
gpu-check: ## build, test and measure on this GPU; fails without libcublas, libcudnn, GoogleTest or compute-sanitizer
	@$(MAKE) NO_SETUP=1 gpu-check-here

.PHONY: gpu-check-here
gpu-check-here: export NERVANAGPU_DEVICE := cuda
gpu-check-here:
	@$(configure) -DNG_REQUIRE_TESTS=ON
	@$(build)
	@ctest --preset $(preset) -j $(JOBS) -E '^gpu_(exact|cublas|cudnn)$$'
	@NG_CUDA_LIBS="$$($(py) tools/cuda_libs.py)" NG_REQUIRE_GPU_PEERS=1 NG_GPU_CHECK_JSON=build/gpu-check.json \
	  NG_COMMIT="$${NG_COMMIT:-$$(git rev-parse HEAD 2>/dev/null)}" \
	  build/bin/test_gpu --gtest_brief=1
	@echo "compared with cuBLAS and cuDNN: build/gpu-check.json"
	@NG_COMMIT="$${NG_COMMIT:-$$(git rev-parse HEAD 2>/dev/null)}" build/bin/variants --problems 24000 --seconds 240 --json build/variants.json
	@tools/checkers.py --out build/checkers --seconds 400
	@$(py) -m pytest
	@$(py) benchmarks/gemm.py --require-peer $(ARGS)

clean: ## remove the build; .venv stays
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile
