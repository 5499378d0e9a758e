#!/usr/bin/env bash
# install.sh duckdb|spark|flink|kafka|connect|pyiceberg…: what the engines' checks need, into ENGINES_HOME [e2e/engines/.engines].
# DuckDB comes as wheels, its extensions among them; Spark as a wheel and jars, the others as jars from Maven Central. Needs Python 3.10
# or newer with venv; all but DuckDB and PyIceberg also Java 17 and Maven.
set -euo pipefail
cd "$(dirname "$0")"
home=${ENGINES_HOME:-$PWD/.engines}
mkdir -p "$home"

venv() { # folder requirements…
  [ -x "$1/bin/python" ] || python3 -m venv "$1"
  local file
  for file in "${@:2}"; do "$1/bin/pip" install --quiet --disable-pip-version-check -r "$file"; done
}
jars() { # pom folder
  mvn -q -B --no-transfer-progress -f "$1" "-DbuildDirectory=$2" package
}
[ $# -gt 0 ] || { echo "usage: install.sh duckdb|spark|flink|kafka|connect|pyiceberg…" >&2; exit 2; }
for part in "$@"; do
  case $part in
    duckdb) venv "$home/duckdb-1.5" duckdb/requirements.txt ;;
    pyiceberg) venv "$home/pyiceberg" ../pyiceberg/requirements.txt connect/requirements.txt ;;
    spark)
      jars spark/pom.xml "$home/spark-4.1"
      venv "$home/spark-4.1/venv" spark/requirements.txt
      ;;
    flink) jars flink/pom.xml "$home/flink-1.20" ;;
    kafka) jars kafka/pom.xml "$home/kafka" ;;
    connect)
      jars connect/pom-worker.xml "$home/kafka-connect/worker"
      jars connect/pom-sink.xml "$home/kafka-connect/plugins/iceberg"
      ;;
    *) echo "unknown part $part" >&2; exit 2 ;;
  esac
done
