.DEFAULT_GOAL := help
LINT_VERSION := v2.15.0

# untested says, after the tests, what this machine cannot test: go test hides the reasons of skipped tests.
define untested
[ -n "$$POSTROOM_TEST_POSTGRES" ] || echo "NOT TESTED: PostgreSQL. Set POSTROOM_TEST_POSTGRES to the URL of a server, as postgres://root@127.0.0.1:5432/test"; \
[ -n "$$POSTROOM_TEST_REDIS" ] || echo "NOT TESTED: Redis. Set POSTROOM_TEST_REDIS to the URL of a server, as redis://127.0.0.1:6379/15"; \
[ -n "$$POSTROOM_TEST_CORPORA" ] || echo "NOT TESTED: real mail. Set POSTROOM_TEST_CORPORA to a folder with it"; \
command -v pgbouncer >/dev/null || echo "NOT TESTED: PostgreSQL behind a pooler. Install PgBouncer"; \
command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || echo "NOT TESTED: the dashboard in a browser. Install Chromium"; \
command -v python3 >/dev/null || echo "NOT TESTED: what mime builds, by Python's email package. Install Python 3"
endef

.PHONY: help
help: ## list what you may want to run
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## sort the sample mailbox, and serve its page
	go run ./examples/postroomd demo

.PHONY: test
test: ## run all tests
	@go test ./...; status=$$?; $(untested); exit $$status

.PHONY: race
race: ## run all tests under the race detector
	@go test -race ./...; status=$$?; $(untested); exit $$status

.PHONY: soak
soak: ## kill 500 processes at work on each engine, and the workers of 10,000 messages, with many seeds: long, and a PostgreSQL server
	POSTROOM_TEST_KILLS=500 go test -count=1 -v -timeout 30m -run '^TestKilledProcesses' ./queue/sqlite ./queue/postgres
	POSTROOM_TEST_SEEDS=50 go test -count=1 -timeout 1h -run 'TestEverythingOnce|TestWhatIsUndone' ./internal/chaos
	POSTROOM_TEST_CHAOS=10000 go test -count=1 -v -timeout 3h ./internal/chaos

.PHONY: lint
lint: ## format, vet and lint
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these"; exit 1; }
	go vet ./...
	@PATH="$$PATH:$$(go env GOPATH)/bin"; command -v golangci-lint >/dev/null || { \
	  echo "golangci-lint is not installed: run \"make tools\", which installs $(LINT_VERSION) into $$(go env GOPATH)/bin"; exit 1; }; \
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

.PHONY: shape
shape: ## print files, lines and circles of each package
	go run ./.ci/shape

.PHONY: bench
bench: ## measure beside other queues into docs/benchmarks.md: two and a half hours, and PostgreSQL and Redis servers
	cd internal/bench && go run . -out ../../docs/benchmarks.md

.PHONY: check
check: lint race ## what every change must pass
