#!/usr/bin/env bash
# run.sh [ENGINE…]: engines against a running sluice, by default all, one after the other, each against a serve of its own.
# DELEGATION says how they come to their files: vended-credentials by default, remote-signing, or none, which is a local folder.
# Keys live for a minute where the engine renews them. They authenticate with client id and secret, and with AUTH=token with an engine token.
#
#   pyiceberg  reads and writes as a notebook does
#   duckdb     SQL, by OAuth2
#   spark      batch, merge, maintenance, streaming, and a stream that is killed and goes on from its checkpoint; with Kafka
#   flink      batch and streaming, inserts and upserts that are killed and go on from a checkpoint; with Kafka
#   faults     Flink: what goes wrong with jobs and how it is found, and healthy jobs of which nothing is
#   connect    Kafka Connect's sink, whose worker is killed and started again
#   grants     Spark as a principal that may do little; with SOAK_SECONDS it goes on that long with access tokens of two minutes
#   rows       governed queries and upserts against Spark, DuckDB and Flink: each reads what the others wrote, row by row
#   refresh    writes of three minutes with keys of one minute, by Spark and PyIceberg
#
# The first run of an engine installs it; see install.sh. Needs Go besides. See ../lib.sh for settings. Exits non-zero when anything failed.
set -euo pipefail
e2e=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -ne 1 ]; then
  failed=0
  if [ $# -eq 0 ]; then set -- pyiceberg duckdb spark flink faults connect grants rows refresh; fi
  for engine in "$@"; do "$0" "$engine" || failed=1; done
  exit "$failed"
fi
engine=$1
export DELEGATION=${DELEGATION:-vended-credentials}
case $engine in
  pyiceberg) needs="pyiceberg" ;;
  duckdb) needs="duckdb" ;;
  spark) needs="spark kafka" ;;
  grants) needs="spark" ;;
  flink) needs="flink kafka" ;;
  faults) needs="flink" ;;
  connect) needs="connect kafka pyiceberg" ;;
  rows) needs="spark duckdb flink" ;;
  refresh) needs="spark pyiceberg" ;;
  *) echo "unknown engine $engine" >&2; exit 2 ;;
esac
case $engine/$DELEGATION in
  */none | */vended-credentials | */remote-signing) ;;
  *) echo "unknown DELEGATION $DELEGATION" >&2; exit 2 ;;
esac
case $engine/$DELEGATION in
  duckdb/remote-signing) echo "SKIP engines duckdb: it cannot have requests signed"; exit 0 ;;
  refresh/none) echo "SKIP engines refresh: a folder has no keys that end"; exit 0 ;;
esac
cd "$e2e"
. ./lib.sh
. engines/broker.sh
export ENGINES_HOME=${ENGINES_HOME:-$e2e/engines/.engines} PYTHONPATH=$e2e/pyiceberg:$e2e/engines ENGINE_WORK=$work/engine
export SPARK_JARS_DIR=$ENGINES_HOME/spark-4.1/lib SPARK_LOCAL_IP=127.0.0.1 FLINK_HOME=$ENGINES_HOME/flink-1.20
export AWS_EC2_METADATA_DISABLED=true AWS_REGION=us-east-1
if [ "$DELEGATION" = remote-signing ]; then export PYICEBERG_MAX_WORKERS=1; fi # it signs from several threads without a lock
mkdir -p "$ENGINE_WORK"

installed() {
  case $1 in
    duckdb) [ -x "$ENGINES_HOME/duckdb-1.5/bin/python" ] ;;
    pyiceberg) [ -x "$ENGINES_HOME/pyiceberg/bin/python" ] ;;
    spark) [ -x "$ENGINES_HOME/spark-4.1/venv/bin/python" ] && compgen -G "$SPARK_JARS_DIR/iceberg-aws-bundle-*" >/dev/null ;;
    flink) [ -d "$FLINK_HOME/lib" ] ;;
    kafka) [ -d "$ENGINES_HOME/kafka/lib" ] ;;
    connect) [ -d "$ENGINES_HOME/kafka-connect/worker/lib" ] && [ -d "$ENGINES_HOME/kafka-connect/plugins" ] ;;
  esac
}
for part in $needs; do installed "$part" || engines/install.sh "$part"; done

# python VENV SCRIPT: in a folder of its own, because Spark leaves files where it runs.
python() { (cd "$ENGINE_WORK" && "$ENGINES_HOME/$1/bin/python" -W ignore "$e2e/$2" 2>"$work/$engine.err") || { tail -n 5 "$work/$engine.err"; return 1; }; }
pyiceberg() { python pyiceberg pyiceberg/smoke.py; }
duckdb() { python duckdb-1.5 engines/duckdb/smoke.py; }
spark() {
  local failed=0
  start_broker
  python spark-4.1/venv engines/spark/smoke.py || failed=1
  python spark-4.1/venv engines/spark/restart.py || failed=1
  return "$failed"
}
grants() {
  python spark-4.1/venv engines/spark/grants.py || return 1
  # No client saw a 401: tokens were renewed before they expired.
  ! grep -E '"msg":"request".*"status":401' "$work/serve.log"
}
compile_flink() { javac -nowarn -proc:none -d "$ENGINE_WORK/classes" -cp "$FLINK_HOME/lib/*" engines/flink/src/sluice/*.java; }
flink() {
  start_broker
  compile_flink
  python3 -W ignore engines/flink/smoke.py
}
faults() {
  compile_flink
  python3 -W ignore engines/flink/faults.py
}
connect() {
  start_broker
  python pyiceberg engines/connect/smoke.py
}
rows() {
  local failed=0
  local -x PYTHONPATH=$PYTHONPATH:$e2e/engines/spark:$e2e/engines/flink
  python spark-4.1/venv engines/spark/rows.py || failed=1
  python spark-4.1/venv engines/spark/changes.py || failed=1
  if [ "$DELEGATION" != remote-signing ]; then python duckdb-1.5 engines/duckdb/rows.py || failed=1; fi # it cannot have requests signed
  compile_flink
  python spark-4.1/venv engines/flink/rows.py || failed=1
  return "$failed"
}
refresh() {
  local failed=0
  python spark-4.1/venv engines/spark/long.py || failed=1
  python pyiceberg engines/pyiceberg/long.py || failed=1
  return "$failed"
}

flags=(--access-token-lifetime 2m --writer-watch-interval 5s)
case $engine in pyiceberg | duckdb | rows) ;; *) flags+=(--credential-lifetime 1m) ;; esac # Java's clients renew their keys
if [ "$engine" = faults ]; then flags+=(--writer-watch-interval 2s --stalled-writer-floor 5s --stalled-writer-factor 3 --sweep-interval 5s); fi
echo "== $engine, $DELEGATION"
serve "${flags[@]}"
if [ "$engine" = connect ]; then default_policy open_append; else default_policy open_full; fi # the sink only appends
if [ "${AUTH:-oauth}" = token ]; then
  ENGINE_TOKEN=$("$SLUICE_BIN" tokens mint --data "$SLUICE_DATA" --catalog "$WAREHOUSE" --name engine -o json | python3 -c 'import json, sys; print(json.load(sys.stdin)["token"])')
  export ENGINE_TOKEN
fi
failed=0
"$engine" || failed=1
case $engine in faults | rows) ;; *) python3 -W ignore pyiceberg/check_findings.py || failed=1 ;; esac # these look themselves
stop || failed=1
if [ "$failed" = 0 ]; then
  echo "PASS engines $engine $DELEGATION"
else
  echo "FAIL engines $engine $DELEGATION"
  grep -E '"level":"(WARN|ERROR)"' "$work/serve.log" | tail -n 20 || true
fi
exit "$failed"
