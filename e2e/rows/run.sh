#!/usr/bin/env bash
# The governed data plane against DuckDB and PyIceberg: queries, masks and pages of tables with every kind of delete, upserts
# beside appends with kills, and the Python SDK's own tests. Builds the program unless SLUICE_E2E_BINARY names one. Needs Go,
# Python 3.10 or newer with venv, and on the first run the Python package index.
#   run.sh [sdk] | [queries [FILES ROWS QUERIES [deletes|vectors|upgraded]]] | [upserts [ROUNDS]] | [bench [FILES ROWS]]      the first three, at the size of CI, without arguments
set -euo pipefail
cd "$(dirname "$0")"

venv=../.venv-rows
requirements=requirements.txt
if ! cmp -s "$requirements" "$venv/requirements.txt"; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
  cp "$requirements" "$venv/requirements.txt"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$PWD/../../sdk/python/src SLUICE_BIN=${SLUICE_E2E_BINARY:-$work/sluice}
[ -x "$SLUICE_BIN" ] || (cd ../.. && go build -o "$SLUICE_BIN" ./cmd/sluice)

python() { "$PWD/$venv/bin/python" -W ignore "$@"; }
case "${1:-all}" in
  all) python sdk.py && python queries.py && python upserts.py ;;
  sdk | queries | upserts | bench) what=$1 && shift && python "$what.py" "$@" ;;
  *) echo "run.sh [sdk|queries|upserts|bench] [sizes…]" >&2; exit 2 ;;
esac
