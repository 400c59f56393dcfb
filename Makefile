.DEFAULT_GOAL := help
LINT_VERSION := v2.15.0

.PHONY: help
help: ## list what you may want to run
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## sort the sample mailbox
	go run ./examples/postroomd demo

.PHONY: test
test: ## run all tests
	go test ./...

.PHONY: race
race: ## run all tests under the race detector
	go test -race ./...

.PHONY: soak
soak: ## kill 500 processes at work on each engine: minutes, and a PostgreSQL server
	POSTROOM_TEST_KILLS=500 go test -count=1 -v -timeout 30m -run '^TestKilledProcesses' ./queue/sqlite ./queue/postgres

.PHONY: lint
lint: ## format, vet and lint
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these"; exit 1; }
	go vet ./...
	golangci-lint run

.PHONY: tools
tools: ## install the linter
	go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

.PHONY: fuzz
fuzz: ## fuzz what reads bytes from outside, 30 s each
	@for pkg in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    go test -run '^$$' -fuzz "^$$target$$" -fuzztime 30s $$pkg || exit 1; \
	  done; \
	done

.PHONY: bench
bench: ## measure beside other queues into docs/benchmarks.md: an hour, and PostgreSQL and Redis servers
	cd internal/bench && go run . -out ../../docs/benchmarks.md

.PHONY: check
check: lint race ## what every change must pass
