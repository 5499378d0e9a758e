#!/usr/bin/env bash
# PyIceberg against a running sluice: builds the program, serves on a temporary folder, runs every check, stops it.
# Needs Go, Python 3.10 or newer with venv, and on the first run the Python package index. See lib.sh for settings.
# Exits non-zero when anything failed.
set -euo pipefail
e2e=$(cd "$(dirname "$0")" && pwd)
cd "$e2e"
. ./lib.sh

venv=.venv
requirements=pyiceberg/requirements.txt
if ! cmp -s "$requirements" "$venv/requirements.txt"; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
  cp "$requirements" "$venv/requirements.txt"
fi

serve --writer-watch-interval 5s
failed=0
run() {
  echo "== $1"
  "$venv/bin/python" -W ignore "pyiceberg/$1.py" || failed=1
}
run check_policies
run check_names
run check_tokens
run check_grants
default_policy open_full
run smoke
run check_findings
stop || failed=1
if [ "$failed" = 0 ]; then echo "PASS e2e"; else echo "FAIL e2e"; grep -E '"level":"(WARN|ERROR)"' "$work/serve.log" | tail -n 20 || true; fi
exit "$failed"
