// Command chaos kills and freezes a herd server under a mixed load, again and again, and checks what is there afterwards.
//
// # Purpose
//
// `go run ./tests/chaos --rounds 200` runs clients that insert, update, delete, transfer, COPY, store large values, define tables,
// build and drop indexes, draw from a sequence and ask for checkpoints, and that note what was acknowledged. At a random moment the
// server is killed with SIGKILL; every --freeze-every rounds it is first stopped with SIGSTOP for some seconds and goes on. After
// each restart everything acknowledged must be there and nothing else; every --check-every rounds `herd check` must find the folder
// in order.
//
// # Invariants
//
//   - I1: a change counts as acknowledged only when the answer to its COMMIT has been read; before that its outcome is open, and
//     either the state before it or the state after it may be found, wholly.
//   - I2: a client changes only keys of its own, so the model of what must be there needs no order between clients. Transfers are the
//     exception: balances are compared with the transfers that are there.
//   - I3: the data folder is the same through all rounds.
//
// # Goroutines
//
// One per client and round, ended by the kill.
//
// # Files
//
//   - main.go: flags and rounds. model.go: what must be there. client.go: a client and its transactions. work.go: the kinds of work.
//     verify.go: the comparison.
package main
