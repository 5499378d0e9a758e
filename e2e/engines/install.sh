#!/usr/bin/env bash
# install.sh duckdb|spark: what the engine's smoke needs, into ENGINES_HOME [e2e/engines/.engines]. DuckDB comes as wheels, its extensions
# among them; Spark as a wheel and the Iceberg runtime from Maven Central. Needs Python 3.10 or newer with venv; Spark also Java 17 and Maven.
set -euo pipefail
cd "$(dirname "$0")"
home=${ENGINES_HOME:-$PWD/.engines}
mkdir -p "$home"

venv() { # folder requirements
  python3 -m venv "$1"
  "$1/bin/pip" install --quiet --disable-pip-version-check -r "$2"
}
case ${1:-} in
  duckdb) venv "$home/duckdb-1.5" duckdb/requirements.txt ;;
  spark)
    mvn -q -B --no-transfer-progress -f spark/pom.xml "-DbuildDirectory=$home/spark-4.1" package
    venv "$home/spark-4.1/venv" spark/requirements.txt
    ;;
  *) echo "usage: install.sh duckdb|spark" >&2; exit 2 ;;
esac
