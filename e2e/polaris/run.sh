#!/usr/bin/env bash
# Apache Polaris's own command line, unchanged, against a running sluice: serves on a temporary folder, types the commands
# of cli.py and checks what they print. Needs Go, Python 3.10 or newer with venv, and on the first run the Python package
# index. See ../lib.sh for settings; POLARIS uses a command line that is installed already. Exits non-zero when anything failed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
e2e=$(dirname "$here")
cd "$e2e"
. ./lib.sh

venv=.venv-polaris
requirements=$here/requirements.txt
if [ -z "${POLARIS:-}" ]; then
  if ! cmp -s "$requirements" "$venv/requirements.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$venv/requirements.txt"
  fi
  POLARIS=$e2e/$venv/bin/polaris
fi

DELEGATION=none serve
failed=0
MANAGEMENT_URI=$(boot managementUri) LOCATION=file://$work/warehouse POLARIS=$POLARIS POLARIS_HOME=$work python3 "$here/cli.py" || failed=1
stop || failed=1
if [ "$failed" = 0 ]; then echo "PASS polaris"; else echo "FAIL polaris"; grep -E '"level":"(WARN|ERROR)"' "$work/serve.log" | tail -n 20 || true; fi
exit "$failed"
