#!/bin/sh
# Sets the machine up, configures and builds: tools/build.sh [PRESET] [-DOPTION=VALUE ...] [TARGET ...]
# PRESET is release (the default), dev, asan or tsan and comes first; the result lies in build/PRESET.
set -eu
cd "$(dirname "$0")/.."

preset=release
case "${1:-}" in release | dev | asan | tsan) preset=$1 && shift ;; esac
options="" targets=""
for word in "$@"; do
  case "$word" in -D*) options="$options $word" ;; *) targets="$targets $word" ;; esac
done

tools/setup.sh
# shellcheck disable=SC2086  # lists of words
if ! log=$(cmake --preset "$preset" $options 2>&1); then
  echo "$log" >&2
  exit 1
fi
# shellcheck disable=SC2086
exec cmake --build --preset "$preset" --target ${targets:-all}
