#!/bin/sh
# Sets the machine up, builds with optimisation and runs every test: tools/test.sh [-DOPTION=VALUE ...] [CTEST OPTION ...]
set -eu
cd "$(dirname "$0")/.."

while :; do
  case "${1:-}" in -D*) options="${options:-} $1" && shift ;; *) break ;; esac
done
# shellcheck disable=SC2086  # a list of words
tools/build.sh release ${options:-} all
exec ctest --test-dir build/release --output-on-failure --parallel "$(nproc)" --timeout 900 "$@"
