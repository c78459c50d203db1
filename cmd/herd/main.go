package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run executes a command line and returns the exit status.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal has its default effect
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "herd: %v\nRun `%s --help` for usage.\n", err, usage.command)
		return 2
	case errors.Is(err, errReported):
		return 1
	}
	fmt.Fprintln(os.Stderr, "herd:", err)
	return 1
}

// errReported is returned by a command that has printed its error already.
var errReported = errors.New("reported")

// usageError is a wrong flag or argument.
type usageError struct {
	command string
	err     error
}

// Error implements error.
func (e usageError) Error() string { return e.err.Error() }

// Unwrap gives the error inside.
func (e usageError) Unwrap() error { return e.err }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "herd",
		Short:         "A PostgreSQL-compatible database server that keeps its tables in memory and everything on disk",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newServerCommand(), newClusterCommand(), newSQLCommand(), newImportCommand(), newYCSBCommand(), newConfCommand(), newCheckCommand(), newInspectCommand(), newUpgradeCommand(), newBackupCommand(), newRestoreCommand(), newVersionCommand())
	for _, c := range append(root.Commands(), root) {
		c.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{cmd.CommandPath(), err} })
		if args := c.Args; args != nil {
			c.Args = func(cmd *cobra.Command, given []string) error {
				if err := args(cmd, given); err != nil {
					return usageError{cmd.CommandPath(), err}
				}
				return nil
			}
		}
	}
	return root
}
