#!/usr/bin/env bash
# Installs the object stores that tests run on this machine beside those of Sluice itself: Azurite (Azure Blob Storage; needs
# Node.js and npm) and fake-gcs-server (Google Cloud Storage; built by Go). They go into e2e/storage/.tools, or the folder
# given, and nowhere else. The tests of internal/objects/azure and internal/objects/gcs find them there; without them
# they are skipped and say so.
set -euo pipefail
azurite=3.37.0
fake_gcs=v1.56.1
here=$(cd "$(dirname "$0")" && pwd)
tools=${1:-$here/.tools}
mkdir -p "$tools/bin"
tools=$(cd "$tools" && pwd)

if [ "$(cat "$tools/azurite-version" 2>/dev/null)" != "$azurite" ]; then
  npm install --prefix "$tools" --no-audit --no-fund --no-save --ignore-scripts --loglevel=error "azurite@$azurite"
  echo "$azurite" >"$tools/azurite-version"
fi
if [ "$(cat "$tools/fake-gcs-version" 2>/dev/null)" != "$fake_gcs" ]; then
  (cd "$tools" && GOBIN=$tools/bin GOFLAGS= go install "github.com/fsouza/fake-gcs-server@$fake_gcs")
  echo "$fake_gcs" >"$tools/fake-gcs-version"
fi
echo "azurite $azurite: $tools/node_modules/.bin/azurite-blob"
echo "fake-gcs-server $fake_gcs: $tools/bin/fake-gcs-server"
