# Sluice: `make help` lists what there is.
GO ?= go
PKGS := ./...
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
GOLANGCI := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
WORKFLOWCHECK := $(GO) run go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0
GOVULNCHECK := $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0

.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

build: ## build the sluice binary into bin/
	$(GO) build -trimpath -ldflags '-s -w -X github.com/sluice-data/sluice/internal/telemetry.version=$(VERSION)' -o bin/sluice ./cmd/sluice

lint: ## golangci-lint, with the import table
	$(GOLANGCI) run $(PKGS)

test: ## every test that needs nothing but Go (PostgreSQL where its binaries are found)
	$(GO) test $(PKGS)

test-race: ## the race detector over our own concurrent packages
	$(GO) test -race -short -timeout 30m ./internal/catalog/... ./internal/access/... ./internal/dispatch/... ./internal/metadata/... ./internal/policy/... ./internal/objects/... ./internal/store/... ./internal/management/... ./internal/delegation/... ./internal/s3gateway/... ./internal/keyring/... ./internal/contend ./internal/audit ./internal/events/... ./internal/webhooks/... ./internal/tableread ./internal/tableio ./internal/dataplane ./api/...

e2e: ## PyIceberg against a running Sluice; installs PyIceberg into e2e/.venv
	e2e/run.sh

e2e-rows: ## the governed data plane against DuckDB and PyIceberg, and the Python SDK; installs them into e2e/.venv-rows
	e2e/rows/run.sh

rck: ## the Iceberg REST Compatibility Kit, plain and wide (Java 17, Maven; RCK_CLIENT=1.12.0 for another client)
	e2e/rck/run.sh

engines: ## every engine against a running Sluice, in the mode of DELEGATION (vended-credentials, remote-signing or none); installs them into e2e/engines/.engines
	e2e/engines/run.sh $(ENGINES)

e2e-spark: ## Spark: batch, streaming, a killed stream, few rights, and a write longer than its keys live
	e2e/engines/run.sh spark grants refresh

e2e-flink: ## Flink: batch, streaming, inserts and upserts that are killed and go on from a checkpoint
	e2e/engines/run.sh flink

e2e-faults: ## Flink jobs that go wrong and what is found of it: replays, stalled streams; and healthy ones, of which nothing is
	e2e/engines/run.sh faults

e2e-connect: ## Kafka and its Connect sink, whose worker is killed and started again
	e2e/engines/run.sh connect

e2e-engine-rows: ## governed rows and those of Spark, DuckDB and Flink, each read by the others
	e2e/engines/run.sh rows

e2e-duckdb: ## DuckDB
	e2e/engines/run.sh duckdb

e2e-pyiceberg: ## PyIceberg as a notebook uses it
	e2e/engines/run.sh pyiceberg

polaris: ## Apache Polaris's own command line against a running Sluice; installs it into e2e/.venv-polaris
	e2e/polaris/run.sh

workflowcheck: ## prove that workflow code is deterministic
	$(WORKFLOWCHECK) ./workflows/...

replay: ## replay the recorded workflow histories
	$(GO) test ./workflows/ -run 'Replay' -count=1

record-histories: ## record new workflow histories into workflows/testdata/histories
	$(GO) test ./workflows/ -run 'TestRecord' -record -count=1

bench: ## the benchmarks of bench/ (reads bench/README.md)
	$(GO) test ./bench/ -run '^$$' -bench . -benchtime 3s

chaos: ## 200 rounds of kill -9 under eight writers
	$(GO) test ./e2e/chaos/ -run "TestChaos$$" -rounds 200 -timeout 120m -v

chaos-cluster: ## 2,000 commits while PostgreSQL, Temporal, APIs and workers are killed, and governed writes under 150 kills
	$(GO) test ./e2e/chaos/ -run TestClusterChaos -cluster-commits 2000 -timeout 60m -v
	$(GO) test ./e2e/chaos/ -run TestClusterRows -row-strikes 150 -timeout 60m -v

fuzz: ## each fuzz target for a minute
	@for p in $$($(GO) list ./... ); do for f in $$($(GO) test $$p -list '^Fuzz' | grep ^Fuzz); do \
		echo "$$p $$f"; $(GO) test $$p -run '^$$' -fuzz "^$$f$$" -fuzztime 60s || exit 1; done; done

vulncheck: ## known vulnerabilities in what we call (asks the Go vulnerability database)
	$(GOVULNCHECK) $(PKGS)

verify: lint workflowcheck replay test ## what CI runs, without the engines

.PHONY: help build lint test test-race polaris e2e rck engines e2e-spark e2e-flink e2e-faults e2e-connect e2e-engine-rows e2e-duckdb e2e-pyiceberg workflowcheck replay record-histories bench chaos chaos-cluster fuzz vulncheck verify
