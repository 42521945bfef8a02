#!/bin/sh
# Sets the machine up, builds build/release/hone and runs the quickstart: tools/quickstart.sh [--seed N] [--control]
# [OPTION ...]; `build/release/hone quickstart --help` lists the options.
set -eu
cd "$(dirname "$0")/.."

tools/build.sh release hone
exec build/release/hone quickstart "$@"
