#!/usr/bin/env bash
# Installs what the named groups lack, and nothing else: Debian packages when root, Python packages into .venv.
#   tools/setup.sh build python test demo lint doc fuzz torch jax release      (any of them)
# With everything there it calls neither apt nor pip. Not root: it prints the apt line and stops.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
venv=.venv

have() { command -v "$1" >/dev/null 2>&1; }
wants() { [[ " $groups " == *" $1 "* ]]; }
fail() { echo "setup: $*" >&2; exit 1; }

groups="$*"
for group in $groups; do
  case $group in build|python|test|demo|lint|doc|fuzz|torch|jax|release) ;; *) fail "unknown group '$group'" ;; esac
done

# libFuzzer's run-time library comes with clang up to 11; Debian 12 has it in a package of its own, only recommended.
has_libfuzzer() { echo "extern \"C\" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }" |
  clang++ -x c++ -fsanitize=fuzzer,address - -o /dev/null 2>/dev/null; }

# --- Debian packages: each is asked for by what it provides, so other ways of having it count too ----------------------
missing_packages() {
  if wants build; then
    have c++ || echo g++
    have cmake || echo cmake
    have ninja || echo ninja-build
  fi
  if wants test && [[ -z ${GTEST_SOURCE_DIR:-} ]]; then
    [[ -e /usr/include/gtest/gtest.h || -e /usr/src/googletest/CMakeLists.txt ]] || echo libgtest-dev
  fi
  if wants lint; then
    have clang-format || echo clang-format
    have clang-tidy || echo clang-tidy
    have clang++ || echo clang
  fi
  if wants fuzz; then
    if ! have clang++; then echo clang
    elif ! has_libfuzzer; then echo "libclang-rt-$(clang++ -dumpversion | cut -d. -f1)-dev"
    fi
  fi
  if wants release && [[ $(uname -m) == x86_64 ]]; then  # what builds and tries wheels for aarch64
    compgen -G "/usr/lib/gcc*/aarch64-linux-gnu/*/libstdc++.a" >/dev/null || echo libstdc++-12-dev-arm64-cross
    have qemu-aarch64-static || echo qemu-user-static
  fi
  if [[ ! -x $venv/bin/python ]]; then
    have "$PYTHON" || echo "python3"
    if ! have "$PYTHON" || ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then echo python3-venv; fi
    if ! have "$PYTHON" || ! "$PYTHON" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' \
        2>/dev/null; then echo python3-dev; fi
  fi
}

install_packages() {
  local packages=("$@") line="apt-get install -y --no-install-recommends $*"
  have apt-get || fail "missing: ${packages[*]} (names of Debian packages); install them and try again"
  if [[ $(id -u) != 0 ]]; then
    echo "setup: missing Debian packages; run this as root, then try again:" >&2
    echo "  $line" >&2
    exit 1
  fi
  apt-get update -q || echo "setup: apt-get update failed; going on with the lists that are there" >&2
  DEBIAN_FRONTEND=noninteractive $line
}

packages=$(missing_packages)
if [[ -n $packages ]]; then
  # It shrinks the library (cmake/zstd.cmake), which is built without it, too: installed along, never alone.
  if wants build && [[ ! -e /usr/include/zstd.h ]]; then packages+=" libzstd-dev"; fi
  # shellcheck disable=SC2086  # one word per package
  install_packages $packages
  # A second time: which package has libFuzzer depends on the version of clang, which is there only now.
  packages=$(missing_packages)
  if [[ $packages == libclang-rt-* ]]; then
    install_packages "$packages"
    packages=$(missing_packages)
  fi
  [[ -z $packages ]] || fail "still missing after the installation: ${packages//$'\n'/ } (PYTHON=$PYTHON)"
fi

# --- .venv ------------------------------------------------------------------------------------------------------------
if [[ ! -x $venv/bin/python ]]; then
  "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "$PYTHON is $("$PYTHON" --version 2>&1); Python 3.10 or later is needed (PYTHON=...)"
  rm -rf $venv
  "$PYTHON" -m venv $venv
fi

# A group is installed when its stamp equals its requirements.
for group in $groups; do
  requirements=tools/requirements/$group.txt
  stamp=$venv/$group.installed
  if [[ -f $requirements ]] && ! cmp -s "$requirements" "$stamp"; then
    $venv/bin/python -m pip install -q --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$stamp"
  fi
done

# The package is imported from the build, so that a rebuild is all it takes to try a change.
site=$(echo $venv/lib/python3*/site-packages)
if [[ $(cat "$site/nervanagpu.pth" 2>/dev/null) != "$PWD/build/python" ]]; then
  echo "$PWD/build/python" >"$site/nervanagpu.pth"
fi
