#!/usr/bin/env bash
# Every style check. --changed: only C++ files that differ from main (or, on main, from the last commit).
set -euo pipefail
cd "$(dirname "$0")/.."
PY=${PY:-$PWD/.venv/bin/python}
JOBS=${JOBS:-$(nproc)}
failed=0
step() {  # step NAME COMMAND...: all steps run, so that one run shows everything
  local name=$1
  shift
  if "$@"; then echo "lint: $name ok"; else echo "lint: $name FAILED" >&2; failed=1; fi
}

base=$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD~1 2>/dev/null || git rev-parse HEAD)
mapfile -t cpp < <(git ls-files -co --exclude-standard -- '*.h' '*.hpp' '*.cpp')
if [[ ${1:-} == --changed ]]; then
  mapfile -t cpp < <({ git diff --name-only --diff-filter=d "$base" -- '*.h' '*.hpp' '*.cpp'
                       git ls-files -o --exclude-standard -- '*.h' '*.hpp' '*.cpp'; } | sort -u)
fi

# A compilation database made with clang, whose flags clang-tidy understands. Nothing is built but included files. All files
# are checked as a unity build compiles them, 750 files in 275 units; those that differ one by one.
tidy() {
  local unity=$([[ ${1:-} == --changed ]] && echo OFF || echo ON)
  cmake -S . -B build/lint -G Ninja --log-level=NOTICE -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Debug \
    -DNG_UNITY="$unity" -DNG_PYTHON=ON -DPython_EXECUTABLE="$(command -v "$PY")" >/dev/null || return
  cmake --build build/lint --target variant_lines >/dev/null || return
  local units
  mapfile -t units < <(sed -n 's|^  "file": "\(.*\.c[xp][xp]\)",\?$|\1|p' build/lint/compile_commands.json | grep -v /generated/ | sort -u)
  if [[ $unity == OFF ]]; then
    mapfile -t units < <(printf '%s\n' "${cpp[@]/#/$PWD/}" | grep -Fxf <(printf '%s\n' "${units[@]}"))
  fi
  printf '%s\n' "${units[@]}" | xargs -r -n 1 -P "$JOBS" clang-tidy -p build/lint --quiet --checks=-bugprone-suspicious-include \
    --header-filter='/(sass|src|include|kernels|layers|python)/.*\.h(pp)?$|\.cpp$' 2> >(grep -v 'warnings generated\|^Suppressed\|^Use -' >&2)
}

subjects() {  # of commits, within 72 columns
  ! git log --format=%s "$base"..HEAD | grep -E '.{73}'
}

if ((${#cpp[@]})); then
  step clang-format clang-format --dry-run -Werror "${cpp[@]}"
  step clang-tidy tidy "${1:-}"
fi
step "ruff check" "$PY" -m ruff check -q .
step "ruff format" "$PY" -m ruff format -q --check .
step mypy "$PY" -m mypy
step "commit subjects" subjects
step "include direction" "$PY" tools/check_tree.py
exit $failed
