#!/usr/bin/env bash
# The Iceberg REST Compatibility Kit (106 table and 51 view tests) against a running sluice, plain and wide, with the kit's own
# client; RCK_CLIENT=1.12.0 runs it with another. Needs Java 17, Maven and, on the first run, Maven Central.
# Fails unless every test passes that the kit does not skip: 145 passed and 12 skipped, wide 151 and 6.
set -euo pipefail
e2e=$(cd "$(dirname "$0")/.." && pwd)
cd "$e2e"
. ./lib.sh

client=${RCK_CLIENT:-1.11.0}
classpath=$e2e/rck/target/classpath-$client.txt
if [ ! -s "$classpath" ] || [ rck/pom.xml -nt "$classpath" ]; then
  mkdir -p rck/target
  mvn -q -B --no-transfer-progress -f rck/pom.xml "-Diceberg.version=$client" dependency:build-classpath "-Dmdep.outputFile=$classpath"
fi

# kit NAME WANTED [kit option…] runs the kit against a fresh catalog: the kit wants an empty one. It puts tables below file:/tmp and
# names data files that are nowhere.
kit() {
  local name=$1 wanted=$2; shift 2
  serve --any-location --warehouse "file://$work/warehouse,file:///tmp"
  default_policy open_full
  java -Xmx768m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
    -Drck.local=false "-Drck.uri=$CATALOG_URI" "-Duri=$CATALOG_URI" "-Drck.warehouse=$WAREHOUSE" "-Dwarehouse=$WAREHOUSE" \
    "-Drck.credential=$CREDENTIAL" "-Dcredential=$CREDENTIAL" -Drck.scope=PRINCIPAL_ROLE:ALL -Dscope=PRINCIPAL_ROLE:ALL \
    -Drck.requires-namespace-create=true "-Drckrun.out=$work/$name" "$@" \
    -cp "$(cat "$classpath")" rck/RckRun.java >"$work/$name.log" 2>"$work/$name.err" || true
  grep -E '^(TOTAL|FAILED)' "$work/$name.log" || tail -n 5 "$work/$name.log" "$work/$name.err"
  if grep -q "^TOTAL .*$wanted" "$work/$name.log"; then echo "PASS rck $name"; else echo "FAIL rck $name: want $wanted"; failed=1; fi
  stop || failed=1
  rm -rf "$work/data" "$work/warehouse"
}
failed=0
kit plain 'passed=145 failed=0 skipped=12'
kit wide 'passed=151 failed=0 skipped=6' -Drckrun.nested=true -Drckrun.slashes=true -Drck.supports-names-with-dot=true -Dsupports-names-with-dot=true
exit "$failed"
