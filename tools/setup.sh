#!/bin/sh
# Installs the Debian packages of tools/packages.txt that are missing; does nothing when all are there.
# `tools/setup.sh optional` also installs what single features need, `tools/setup.sh ci` that and what only continuous
# integration needs: packages, and pyarrow from PyPI in build/python. Without the rights to install it names the missing
# packages and the command for an administrator, and ends with 2.
set -eu
cd "$(dirname "$0")/.."
pyarrow=26.0.1
for_ci=$([ "${1:-}" != ci ] || echo yes)

# What is no package of Debian, once all packages are there; then ends.
finish() {
  python=build/python/bin/python
  if [ -z "$for_ci" ] || "$python" -c "import pyarrow; assert pyarrow.__version__ == '$pyarrow'" 2>/dev/null; then exit 0; fi
  echo "set-up: installing pyarrow from PyPI into build/python"
  rm -rf build/python
  if python3 -m venv build/python && "$python" -m pip install --quiet --disable-pip-version-check --retries 5 \
    --only-binary :all: "pyarrow==$pyarrow"; then
    exit 0
  fi
  echo "set-up: pyarrow cannot be installed (is PyPI within reach?); tests of real Parquet files need it" >&2
  exit 1
}

wanted=$(awk -v with="${1:-}" '
  /^#/ || !NF { next }
  $2 == "ci" && with != "ci" { next }
  $2 == "optional" && with != "ci" && with != "optional" { next }
  { print $1 }' tools/packages.txt)

if ! command -v dpkg-query >/dev/null; then
  echo "set-up: this is no Debian, so nothing is installed; see tools/packages.txt for what the build needs" >&2
  finish
fi

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | awk '$1 == "installed" { print $2 }')
missing=""
for package in $wanted; do
  echo "$installed" | grep -qxF "$package" || missing="$missing $package"
done
[ -n "$missing" ] || finish

install="apt-get install --yes --no-install-recommends$missing"
if [ "$(id -u)" -eq 0 ]; then
  as_root=""
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; }; then
  as_root="sudo"
else
  for_administrator="sh -c 'apt-get update && $install'"
  if command -v sudo >/dev/null; then for_administrator="sudo $for_administrator"; fi
  cat >&2 <<MESSAGE
Hone needs Debian packages that are missing, and this user may not install them:
 $missing
An administrator installs them with this one command:
  $for_administrator
Then run the same command as before again.
MESSAGE
  exit 2
fi

# Mirrors fail now and then, and another apt may hold the lock for a while.
attempt() {
  for try in 1 2 3; do
    if $as_root env DEBIAN_FRONTEND=noninteractive "$@"; then return 0; fi
    echo "set-up: '$*' failed (try $try of 3)" >&2
    [ "$try" = 3 ] || sleep 5
  done
  return 1
}

echo "set-up: installing$missing"
attempt apt-get -q -o Acquire::Retries=3 update
# shellcheck disable=SC2086  # a list of words
attempt apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 ${install#apt-get }
finish
