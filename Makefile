SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build
GO ?= go
GOLANGCI ?= $(shell command -v golangci-lint || echo $(shell $(GO) env GOPATH)/bin/golangci-lint)
BINARY := bin/wopwitness
# What runs goroutines of its own. The command's own tests start whole programs, which the detector doesn't see.
CONCURRENT := ./mockhost/... ./seams/... ./scenarios/... ./cmd/wopwitness/internal/...

.PHONY: build certify test race lint selfcheck far postgres soak generate check-generated clean

build:
	$(GO) build -o $(BINARY) ./cmd/wopwitness

# Boots the mock host, runs every leg against it and writes signed reports to reports/out.
certify: build
	$(BINARY) certify

# Every test, and how many there were. What a failing run printed is shown whole.
test:
	@mkdir -p bin; \
	status=0; $(GO) test -timeout 25m -v ./... > bin/test.log 2>&1 || status=$$?; \
	if [ $$status -ne 0 ]; then grep -vE '^=== |^ *--- (PASS|SKIP)' bin/test.log || true; fi; \
	grep -E '^(ok|FAIL)\s' bin/test.log || true; \
	count() { grep -cE "^ *--- $$1" bin/test.log || true; }; \
	echo "tests: $$(count PASS) passed, $$(count FAIL) failed, $$(count SKIP) skipped"; \
	exit $$status

race:
	$(GO) test -race -short -timeout 20m $(CONCURRENT)

lint:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted (gofmt -w): $$unformatted" >&2; exit 1; }
	$(GO) vet ./...
	$(GOLANGCI) run

# Serves every defect and proves that the legs which claim to convict it do, and no others.
selfcheck: build
	$(BINARY) selfcheck

# Certifies two instances of the mock host over one PostgreSQL database, and proves the share of the verdicts that is
# about several instances. POSTGRES is the database's URL, without a schema: each host makes one of its own.
POSTGRES ?= $(WOPWITNESS_TEST_POSTGRES)
postgres: build
	@test -n "$(POSTGRES)" || { echo "no database: make postgres POSTGRES=postgres://…" >&2; exit 2; }
	$(BINARY) certify --store "$(POSTGRES)" --out reports/out/postgres
	$(BINARY) selfcheck --store "$(POSTGRES)" --instances

# An hour's worth of events for a thousand subscribers that come and go, on two instances that are killed a thousand times;
# minutes, and a PostgreSQL database.
soak: build
	WOPWITNESS_TEST_BURST=10s $(GO) test -count 1 -run TestOfABurstNothingIsLost -v ./mockhost
	$(BINARY) soak --store "$${WOPWITNESS_TEST_POSTGRES:?the URL of a PostgreSQL database, as postgres://postgres@127.0.0.1:5432/test?sslmode=disable}"

# Runs every leg FAR times against a host behind a line of 50 to 80 ms each way. No run may say anything of the right host.
FAR ?= 50
far:
	WOPWITNESS_TEST_FAR=$(FAR) $(GO) test -timeout 60m -run TestFarHostIsAcquitted -v ./cmd/wopwitness

# Writes the generated pages; check-generated says whether they were current.
generate: build
	@mkdir -p docs
	$(BINARY) legs --markdown > docs/legs.md
	$(BINARY) selfcheck --markdown > docs/kill-matrix.md
	$(BINARY) selfcheck --html > docs/kill-matrix.html

check-generated: generate
	git diff --exit-code -- docs/legs.md docs/kill-matrix.md docs/kill-matrix.html

clean:
	rm -rf bin reports/out
