package main

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/spf13/pflag"
)

func main() {
	port := pflag.Int("port", 5433, "port on the loopback address")
	file := pflag.String("log", "null.log", "file for the log; it is overwritten")
	pflag.Parse()
	if err := run(*port, *file); err != nil {
		fmt.Fprintln(os.Stderr, "null:", err)
		os.Exit(1)
	}
}

func run(port int, file string) error {
	log, err := openGroupLog(file)
	if err != nil {
		return fmt.Errorf("open log %s: %w", file, err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	fmt.Println("listening on", listener.Addr())
	locks := newLocks()
	for {
		c, err := listener.Accept()
		if err != nil {
			return err
		}
		go newConn(c, log, locks).serve()
	}
}
