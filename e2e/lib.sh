# Starts and stops the program for the engine tests; source it from a script that has done `set -euo pipefail` in e2e/.
# SLUICE_E2E_BINARY uses a program that is built already, KEEP=1 keeps the folder, DELEGATION says how engines come to their files:
# none (a folder that they open themselves), vended-credentials or remote-signing (serve's own S3 endpoint).

work=$(mktemp -d)
pid=
others=() # pids of what else was started here
finish() {
  local p
  for p in $pid ${others[@]+"${others[@]}"}; do kill -9 "$p" 2>/dev/null || true; done
  if [ "${KEEP:-}" = 1 ]; then echo "kept $work"; else rm -rf "$work"; fi
}
trap finish EXIT

# serve [flag…] starts the program on a fresh folder and free ports, and waits until it is ready.
serve() {
  local binary=${SLUICE_E2E_BINARY:-} storage=(--s3-gateway-port 0)
  if [ -z "$binary" ]; then
    binary=$work/sluice
    [ -x "$binary" ] || (cd "$e2e/.." && go build -o "$binary" ./cmd/sluice)
  fi
  DELEGATION=${DELEGATION:-none}
  if [ "$DELEGATION" = none ]; then storage=(--warehouse "file://$work/warehouse"); fi
  "$binary" serve --data "$work/data" --listen 127.0.0.1:0 --temporal-port 0 --ui-port 0 "${storage[@]}" "$@" >"$work/serve.log" 2>&1 &
  pid=$!
  for _ in $(seq 600); do
    [ -f "$work/data/bootstrap.json" ] && break
    if ! kill -0 "$pid" 2>/dev/null; then
      pid=
      echo "FAIL e2e: serve ended before it was ready"
      tail -n 20 "$work/serve.log"
      exit 1
    fi
    sleep 0.1
  done
  [ -f "$work/data/bootstrap.json" ] || { echo "FAIL e2e: serve is not ready after a minute"; tail -n 20 "$work/serve.log"; exit 1; }
  CATALOG_URI=$(boot catalogUri) WAREHOUSE=$(boot catalog) ENGINE_CLIENT_ID=$(boot clientId) ENGINE_CLIENT_SECRET=$(boot clientSecret)
  CREDENTIAL=$ENGINE_CLIENT_ID:$ENGINE_CLIENT_SECRET
  export CATALOG_URI WAREHOUSE CREDENTIAL ENGINE_CLIENT_ID ENGINE_CLIENT_SECRET DELEGATION SLUICE_DATA=$work/data SLUICE_BIN=$binary PYTHONDONTWRITEBYTECODE=1
}

# boot KEY gives a field of bootstrap.json.
boot() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$work/data/bootstrap.json" "$1"; }

# default_policy POLICY sets the policy that new tables get.
default_policy() {
  python3 - "$(boot governanceUri)" "$(boot token)" "$(boot catalog)" "$1" <<'PY'
import json, sys, urllib.request
uri, token, catalog, policy = sys.argv[1:]
urllib.request.urlopen(urllib.request.Request(
    f"{uri}/catalogs/{catalog}/default-write-policy", json.dumps({"policy": policy}).encode(), method="PUT",
    headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"}))
PY
}

# stop ends the program as an operator does and fails unless it exits with 0.
stop() {
  local code=0
  kill -TERM "$pid"
  wait "$pid" || code=$?
  pid=
  if [ "$code" = 0 ]; then echo "PASS e2e: serve stopped with exit 0"; else echo "FAIL e2e: serve stopped with exit $code"; return 1; fi
}
