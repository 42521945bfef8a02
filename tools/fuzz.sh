#!/bin/sh
# Fuzzes the parsers under the address and undefined-behaviour sanitizers: tools/fuzz.sh [EXECUTIONS] [PARSER ...]
# Without words: ten million executions of every parser, one parser after another. A finding ends it with 1 and leaves
# the input in build/asan/fuzz-PARSER.bin; `build/asan/tests/fuzz/fuzz --parser PARSER --input FILE` runs it again.
set -eu
cd "$(dirname "$0")/.."

executions=${1:-10000000}
[ $# -eq 0 ] || shift
tools/build.sh asan fuzz
cd build/asan
fuzz=tests/fuzz/fuzz
for parser in ${*:-$("$fuzz" --list)}; do
  "$fuzz" --parser "$parser" --executions "$executions" --seed "${SEED:-1}"
done
