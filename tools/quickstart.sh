#!/bin/sh
# Sets the machine up, builds build/release/hone and runs the quickstart: tools/quickstart.sh [OPTION ...]
set -eu
cd "$(dirname "$0")/.."

run_quickstart() {
  build/release/hone --version
}

tools/build.sh release hone
run_quickstart "$@"
