#!/usr/bin/env bash
# run.sh [duckdb] [spark] [grants]: the engines' smokes against a running sluice, by default all, one after the other. grants is Spark
# as a principal that may do little; with SOAK_SECONDS it goes on that long with access tokens of two minutes. The first run of an
# engine installs it; see install.sh. Needs Go besides. See ../lib.sh for settings.
# Exits non-zero when anything failed.
set -euo pipefail
e2e=$(cd "$(dirname "$0")/.." && pwd)
cd "$e2e"
. ./lib.sh
export ENGINES_HOME=${ENGINES_HOME:-$e2e/engines/.engines} PYTHONPATH=$e2e/pyiceberg

duckdb() { "$ENGINES_HOME/duckdb-1.5/bin/python" engines/duckdb/smoke.py; }
spark() { on_spark smoke; }
grants() {
  on_spark grants || return 1
  # No client saw a 401: tokens were renewed before they expired.
  ! grep -E '"msg":"request".*"status":401' "$work/serve.log"
}
on_spark() {
  export SPARK_JARS_DIR=$ENGINES_HOME/spark-4.1/lib SPARK_WORK=$work/$1 SPARK_LOCAL_IP=127.0.0.1
  mkdir -p "$SPARK_WORK"
  (cd "$SPARK_WORK" && "$ENGINES_HOME/spark-4.1/venv/bin/python" "$e2e/engines/spark/$1.py" 2>spark.err) || { tail -n 5 "$SPARK_WORK/spark.err"; return 1; }
}
python_of() { case $1 in duckdb) echo "$ENGINES_HOME/duckdb-1.5/bin/python" ;; spark | grants) echo "$ENGINES_HOME/spark-4.1/venv/bin/python" ;; esac; }

if [ $# -eq 0 ]; then set -- duckdb spark grants; fi
for engine in "$@"; do
  case $engine in duckdb | spark | grants) ;; *) echo "unknown engine $engine: duckdb, spark or grants" >&2; exit 2 ;; esac
  [ -x "$(python_of "$engine")" ] || engines/install.sh "${engine/grants/spark}"
done

serve --access-token-lifetime 2m
default_policy open_full
failed=0
for engine in "$@"; do
  echo "== $engine"
  if "$engine"; then echo "PASS engines $engine"; else echo "FAIL engines $engine"; failed=1; fi
done
stop || failed=1
if [ "$failed" != 0 ]; then grep -E '"level":"(WARN|ERROR)"' "$work/serve.log" | tail -n 20 || true; fi
exit "$failed"
