#!/usr/bin/env bash
# run.sh [ENGINE…]: engines write tables with every kind of delete file, and the row counts of Sluice are held against theirs, snapshot by snapshot. By
# default all, one after the other, each against a serve of its own.
#
#   pyiceberg  appends, deletes, overwrites and upserts, v1 and v2
#   spark      deletes, updates and merges, copying and merging on read, v1 to v3; counted by Spark and DuckDB
#   flink      upserts, while Spark deletes rows of the same table, v2 and v3; counted by Spark and Flink
#
# The first run of an engine installs it; see ../engines/install.sh, and ../lib.sh for settings. Exits non-zero when anything failed.
set -euo pipefail
e2e=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -ne 1 ]; then
  failed=0
  if [ $# -eq 0 ]; then set -- pyiceberg spark flink; fi
  for engine in "$@"; do "$0" "$engine" || failed=1; done
  exit "$failed"
fi
engine=$1
case $engine in
  pyiceberg) needs="pyiceberg" ;;
  spark) needs="spark duckdb" ;;
  flink) needs="flink spark" ;;
  *) echo "unknown engine $engine" >&2; exit 2 ;;
esac
export DELEGATION=${DELEGATION:-none}
cd "$e2e"
. ./lib.sh
export ENGINES_HOME=${ENGINES_HOME:-$e2e/engines/.engines} ENGINE_WORK=$work/engine
export PYTHONPATH=$e2e/counts:$e2e/pyiceberg:$e2e/engines:$e2e/engines/spark
export SPARK_JARS_DIR=$ENGINES_HOME/spark-4.1/lib SPARK_LOCAL_IP=127.0.0.1 FLINK_HOME=$ENGINES_HOME/flink-1.20
export AWS_EC2_METADATA_DISABLED=true AWS_REGION=us-east-1
mkdir -p "$ENGINE_WORK"

installed() {
  case $1 in
    duckdb) [ -x "$ENGINES_HOME/duckdb-1.5/bin/python" ] ;;
    pyiceberg) [ -x "$ENGINES_HOME/pyiceberg/bin/python" ] ;;
    spark) [ -x "$ENGINES_HOME/spark-4.1/venv/bin/python" ] && compgen -G "$SPARK_JARS_DIR/iceberg-aws-bundle-*" >/dev/null ;;
    flink) [ -d "$FLINK_HOME/lib" ] ;;
  esac
}
for part in $needs; do installed "$part" || engines/install.sh "$part"; done

# python VENV SCRIPT: in a folder of its own, because Spark leaves files where it runs.
python() { (cd "$ENGINE_WORK" && "$ENGINES_HOME/$1/bin/python" -W ignore "$e2e/counts/$2" 2>"$work/$engine.err") || { tail -n 5 "$work/$engine.err"; return 1; }; }
pyiceberg() { python pyiceberg by_pyiceberg.py; }
spark() {
  local failed=0
  python spark-4.1/venv by_spark.py || failed=1
  python duckdb-1.5 by_duckdb.py || failed=1
  return "$failed"
}
flink() {
  javac -nowarn -proc:none -d "$ENGINE_WORK/classes" -cp "$FLINK_HOME/lib/*" engines/flink/src/sluice/*.java
  python spark-4.1/venv by_flink.py
}

echo "== counts $engine"
serve
default_policy open_full
failed=0
"$engine" || failed=1
stop || failed=1
if [ "$failed" = 0 ]; then
  echo "PASS counts $engine"
else
  echo "FAIL counts $engine"
  grep -E '"level":"(WARN|ERROR)"' "$work/serve.log" | tail -n 20 || true
fi
exit "$failed"
