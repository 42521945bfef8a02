#!/bin/sh
# Builds the unit tests with sanitizers and runs them: tools/sanitize.sh asan|tsan [CTEST OPTION ...]
# asan also holds the undefined-behaviour sanitizer; tsan looks at the folders that work with several threads.
set -eu
cd "$(dirname "$0")/.."

preset=$1 && shift
case $preset in tsan) target=thread_tests label=threads ;; *) target=unit_tests label=unit ;; esac
tools/build.sh "$preset" $target
# The thread sanitizer of GCC 12 stops on kernels that randomise addresses widely, so without randomisation if we may.
plain=""
setarch -R true 2>/dev/null && plain="setarch -R"
# Undefined behaviour is an illegal instruction, which the address sanitizer shows the place of.
export ASAN_OPTIONS="handle_sigill=1:${ASAN_OPTIONS:-}"
exec $plain ctest --test-dir "build/$preset" --label-regex "^$label$" --output-on-failure --parallel "$(nproc)" --timeout 600 "$@"
