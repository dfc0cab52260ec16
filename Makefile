# CI calls these targets and has no logic of its own. make help lists them.

GO       ?= go
TOOL     := $(GO) tool -modfile=tools/go.mod
BENCH    ?= .
COUNT    ?= 6
BASE     ?= main
FUZZTIME ?= 60s

.DEFAULT_GOAL := help
.PHONY: help build test integration invariants vet lint fmt tidy generate generated docs bench bench-compare load fuzz fuzz-short check clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' Makefile

build: ## static programs in bin/; the version is that of the git tag
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=auto -ldflags '-s -w' -o bin/ ./cmd/veneur ./cmd/veneur-emit

test: ## every test, race detector on (needs a C compiler), and without it the gates on allocations and ratios
	$(GO) test -race ./...
	$(GO) test -run 'Alloc|Ratio' ./...

integration: ## the sinks against real servers, which it installs (needs Java, Maven; some minutes)
	$(GO) test -tags integration -count 1 -timeout 90m ./integration

invariants: ## every test with the costly checks compiled in
	$(GO) test -race -tags invariants ./...

vet: ## go vet for every system we build for
	GOOS=linux   GOARCH=amd64 $(GO) vet ./...
	GOOS=linux   GOARCH=arm64 $(GO) vet ./...
	GOOS=darwin  GOARCH=arm64 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) vet ./...

lint: ## golangci-lint, formatting included
	$(TOOL) golangci-lint run ./...
	$(TOOL) golangci-lint run --build-tags integration ./integration/...

fmt: ## format everything as lint wants it
	$(TOOL) golangci-lint fmt ./...

tidy: ## fail while a go.mod is not tidy
	$(GO) mod tidy -diff
	$(GO) -C tools mod tidy -diff
	$(GO) -C bench mod tidy -diff

generate: ## renew the protobuf code
	tools/generate.sh

generated: ## fail while the protobuf code or a written document is not current
	$(GO) -C tools run ./gen -check
	$(GO) test -run TestDocumentsAreCurrent ./docs/generate

docs: ## renew docs/config.md, docs/telemetry.md and example.yaml
	$(GO) run ./docs/generate

bench: ## every benchmark; BENCH=regexp chooses, COUNT=n repeats
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./...

bench-compare: ## benchmarks of BASE=main and of this tree, in turns, by benchstat
	tools/bench-compare.sh '$(BASE)' '$(BENCH)' '$(COUNT)'

bench-rivals: ## our libraries beside others, from the module in bench/; BENCH=regexp chooses, COUNT=n repeats
	$(GO) -C bench vet ./...
	$(GO) -C bench test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./...

load: ## find what a daemon takes on this machine, and renew the table in docs/performance.md; some 5 minutes
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=auto -o bin/ ./cmd/veneur ./cmd/veneur-load
	bin/veneur-load -veneur bin/veneur -ladder -write docs/performance.md

fuzz: ## every fuzz target for FUZZTIME=60s
	tools/fuzz.sh $(FUZZTIME)

fuzz-short:
	tools/fuzz.sh 5s

check: tidy generated vet lint test invariants fuzz-short ## what CI runs

clean: ## remove what was built
	rm -rf bin dist
