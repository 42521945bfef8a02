#!/bin/sh
# Plants one fault after another in an orderly tree and expects tools/check_layers to find each.
set -eu
check=$(cd "$(dirname "$0")" && pwd)/check_layers
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

plant() {  # FILE LINE ...
  file=$tree/$1 && shift
  mkdir -p "$(dirname "$file")"
  printf '%s\n' "$@" >"$file"
}

orderly_tree() {
  rm -rf "$tree/src" "$tree/tests"
  plant src/core/error.h '#include <string>' '#include <fmt/core.h>'
  plant src/io/json.cc '#include <nlohmann/json.hpp>' '#include <sys/mman.h>' '#include "core/error.h"' '#include "profile/zone.h"'
  plant src/text/bpe.cc '#include "workers/pipe.h"' '#include <utf8proc.h>' '// #include "loop/loop.h"'
  plant src/train/trainer.cc '#include "models/decoder.h"' '#include "train/trainer.h"' '#include <fmt/format.h>'
  plant src/train/trainer_test.cc '#include <gtest/gtest.h>'
  plant src/loop/loop.cc '#include "train/trainer.h"' '#include "rollout/engine.h"'
  plant src/cli/main.cc '#include <CLI/CLI.hpp>' '#include "bench/bench.h"'
  plant tests/e2e/run_test.cc '#include <gtest/gtest.h>' '#include "e2e/run.h"' '#include "loop/loop.h"'
}

failures=0
expect() {  # fine|fault, what it shows; FILE LINE ... to plant
  want=$1 what=$2 && shift 2
  orderly_tree
  [ $# -eq 0 ] || plant "$@"
  if "$check" "$tree" >"$tree/said" 2>&1; then got=fine; else got=fault; fi
  if [ "$got" != "$want" ] || { [ $# -gt 0 ] && [ "$want" = fault ] && ! grep -q "^$1:1: " "$tree/said"; }; then
    echo "expected $want, got $got: $what" && cat "$tree/said"
    failures=$((failures + 1))
  fi
}

expect fine "an orderly tree"
expect fault "upwards" src/core/team.cc '#include "kernels/context.h"'
expect fault "upwards by two levels, with blanks" src/models/decoder.h '  #  include "loop/recipe.h"'
expect fault "sideways between stages" src/train/packing.cc '#include "rollout/engine.h"'
expect fault "sideways from a unit test" src/reward/scorer_test.cc '#include "train/trainer.h"'
expect fault "sideways on level 1" src/records/prompt.h '#include "io/json.h"'
expect fault "a path that does not begin at src/" src/io/jsonl.cc '#include "json.h"'
expect fault "an unknown folder" src/utils/strings.h '#include <string>'
expect fault "an include from an unknown folder" src/io/jsonl.cc '#include "utils/strings.h"'
expect fault "JSON outside io" src/report/report.cc '#include <nlohmann/json.hpp>'
expect fault "JSON in a header" src/io/json.h '#include <nlohmann/json.hpp>'
expect fault "JSON in a second file" src/io/yaml.cc '#include <nlohmann/json.hpp>'
expect fault "YAML in a test" tests/e2e/yaml_test.cc '#include <yaml-cpp/yaml.h>'
expect fault "options outside main" src/cli/train.cc '#include <CLI/CLI.hpp>'
expect fault "intrinsics outside the processor's kernels" src/kernels/reference/norm.cc '#include <immintrin.h>'
expect fault "oneDNN outside the peer" src/kernels/cpu/products.cc '#include <oneapi/dnnl/dnnl.hpp>'
expect fault "gtest in the product" src/core/error.cc '#include <gtest/gtest.h>'
expect fault "heavy formatting in a header" src/core/error.h '#include <fmt/format.h>'
expect fault "a library without a home" src/serve/server.cc '#include <boost/asio.hpp>'

[ "$failures" -eq 0 ] && echo "every planted fault was found"
