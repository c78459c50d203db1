# make            build ./herd
# make test       all tests
# make lint       go vet, gofmt and the tests of internal/lint
# make bench      the figures table beside PostgreSQL and MariaDB; ROWS="select update" picks rows, ARGS="--quick" shortens
# make kill9      TPC-B under kill -9, 20 rounds
# make chaos      a mixed load under kill -9 and SIGSTOP, 20 rounds; ARGS="--rounds 200"
# make isolation  PostgreSQL's isolation specs in SPECS (src/test/isolation of its source; .ci/isolation-specs fetches them)
# make history    random histories under kills, checkpoints and evictions
# make slt        SQL logic tests against URL

export CGO_ENABLED := 0
URL ?= postgres://postgres@127.0.0.1:5432/postgres

.PHONY: build test lint bench kill9 isolation history chaos slt ci

build:
	go build -o herd ./cmd/herd

test:
	go test ./...

lint:
	go vet ./...
	@test -z "$$(gofmt -l .)" || { echo "not formatted:"; gofmt -l .; exit 1; }
	go test ./internal/lint

bench:
	go run ./bench/run $(ARGS) $(ROWS)

kill9:
	go run ./tests/kill9 $(ARGS)

chaos:
	go run ./tests/chaos $(ARGS)

isolation:
	go run ./tests/isolation $(SPECS) $(ARGS)

history:
	go run ./tests/history $(ARGS)

slt:
	go run ./tests/slt --url "$(URL)" $(ARGS)

ci:
	.ci/run
