package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"herd/engine"
)

func newUpgradeCommand() *cobra.Command {
	var flags confFlags
	c := &cobra.Command{
		Use:   "upgrade [DIR]",
		Short: "Bring the data folder of a stopped server to this version's format",
		Long: `Brings a data folder (server.base.dir; ./herd-data by default) that an older version of herd has written, and that no server uses,
to the format of this version. A server does that by itself when it opens the folder; this command does it without starting one, and
says what the format is. The older version cannot open the folder afterwards: take a backup before. It is safe to run it again, and
after a crash in the middle.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := loadFolder(cmd, &flags, args)
			if err != nil {
				return err
			}
			from, to, err := engine.Upgrade(checkOptions(c))
			if err != nil {
				return err
			}
			if from == to {
				fmt.Fprintf(cmd.OutOrStdout(), "%s has format %d already, nothing to do\n", c.BaseDir, to)
				return nil
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s had format %d and has format %d now\n", c.BaseDir, from, to)
			return nil
		},
	}
	flags.register(c)
	return c
}
