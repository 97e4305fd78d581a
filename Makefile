# make run    starts the program on http://127.0.0.1:8080 with its data in ./data
# make test   runs everything that can be shown: format, vet, lint, tests under the race detector, scripts, browser
# make lint   only the linter
# make bench  the benchmarks, one package at a time

GO            ?= go
LINT_VERSION  := v2.15.0
LINT          := bin/golangci-lint-$(LINT_VERSION)
BENCHED       := ./model/store ./model/queue ./worker ./api ./api/ws
BENCHTIME     ?= 2s

# The race detector needs a C compiler. Without one the tests still run, unless CI asks for all of them.
RACE := $(shell command -v $$($(GO) env CC) >/dev/null 2>&1 && echo -race)
ifneq ($(CI),)
RACE := -race
endif

.PHONY: run build test test-go test-js test-short format vet lint bench

run:
	$(GO) run ./cmd/seckill

build:
	$(GO) build -o bin/seckill ./cmd/seckill

test: format vet lint test-js test-go

test-go:
	@[ -n "$(RACE)" ] || echo "no C compiler: the tests run without the race detector; install gcc"
	$(GO) test $(RACE) -timeout 20m ./...

# The tests of single packages, without the built program, the browser and the linter's own test.
test-short:
	$(GO) test $(RACE) -short ./...

# The scripts of the pages have no dependencies and no build step; node's own runner tests them.
test-js:
	@tests=$$(find . -path ./.git -prune -o -path '*/node_modules' -prune -o \( -name '*.test.js' -o -name '*.test.mjs' \) -print); \
	if [ -z "$$tests" ]; then echo "no script has tests"; \
	elif command -v node >/dev/null; then node --test $$tests; \
	elif [ -n "$$CI" ]; then echo "node is missing" >&2; exit 1; \
	else echo "skipped the tests of the pages' scripts: install node 20 or later"; fi

format:
	@bad=$$(gofmt -l $$(find . -name '*.go' -not -path './.git/*' -not -path './bin/*')); \
	if [ -n "$$bad" ]; then echo "not formatted, run gofmt -w:"; echo "$$bad"; exit 1; fi

vet:
	$(GO) vet ./...
	$(GO) vet -tags testpoints ./...

lint: $(LINT)
	$(LINT) run ./...

$(LINT):
	GOBIN=$(CURDIR)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv bin/golangci-lint $@

bench:
	@for pkg in $(BENCHED); do \
		$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) -benchmem $$pkg || exit 1; \
	done
