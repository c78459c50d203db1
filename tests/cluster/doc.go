// Package cluster tests clusters of real server processes on loopback: nodes that are killed, come back, join late and
// leave, under load.
package cluster
