package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"herd/conf"
	"herd/engine"
	"herd/sql/session"
	"herd/txlog"
)

// checkOptions says where a base folder's parts are.
func checkOptions(c *conf.Config) engine.CheckOptions {
	return engine.CheckOptions{Dir: c.DataDir(), LogDir: c.LogDir(), MetadataDir: c.MetadataDir(),
		Owner: session.TreeOwner}
}

// loadFolder reads the configuration with the folder that was given as argument.
func loadFolder(cmd *cobra.Command, flags *confFlags, args []string) (*conf.Config, error) {
	if len(args) == 1 {
		flags.sets = append(flags.sets, "server.base.dir="+args[0])
	}
	c, err := flags.load(cmd)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(c.BaseDir); err != nil {
		return nil, err
	}
	return c, nil
}

func newCheckCommand() *cobra.Command {
	var flags confFlags
	var cutLog bool
	c := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Verify the data folder of a stopped server",
		Long: `Reads every block and log entry of a data folder (server.base.dir; ./herd-data by default) that no server uses, and verifies
checksums, order, and what refers to what. It changes nothing. The exit status is 1 when something is wrong.

A server does not start with a transaction log that is damaged before its end. When there is no backup to restore, --cut-log
first ends such a log before the damaged place: every commit from there on is lost. Copy the folder before.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := loadFolder(cmd, &flags, args)
			if err != nil {
				return err
			}
			out, problems := cmd.OutOrStdout(), 0
			if cutLog {
				err := engine.CutLogs(checkOptions(c), func(database string, damage *txlog.CorruptError) {
					fmt.Fprintf(out, "cut: database %s: %v\n", database, damage)
				})
				if err != nil {
					return err
				}
			}
			sum, err := engine.Check(checkOptions(c), func(p engine.Problem) {
				word := "note"
				if !p.Note {
					problems++
					word = "PROBLEM"
				}
				where := p.Where
				if p.Of != "" {
					where = p.Of + ", " + where
				}
				fmt.Fprintf(out, "%s: database %s: %s: %s\n", word, p.Database, where, p.What)
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%d databases, %d trees, %d rows, %d log entries read; %d problems\n", sum.Databases, sum.Trees, sum.Rows, sum.LogEntries, problems)
			if problems > 0 {
				return fmt.Errorf("check of %s found %d problems", c.BaseDir, problems)
			}
			return nil
		},
	}
	flags.register(c)
	c.Flags().BoolVar(&cutLog, "cut-log", false, "end a damaged transaction log before the damaged place")
	return c
}
