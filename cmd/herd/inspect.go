package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"herd/engine"
	"herd/internal/vfs"
	"herd/txlog"
)

func newInspectCommand() *cobra.Command {
	var flags confFlags
	var database string
	var showLog, showTrees bool
	c := &cobra.Command{
		Use:   "inspect [DIR]",
		Short: "Show what the data folder of a stopped server holds",
		Long:  "Shows the databases of a data folder (server.base.dir; ./herd-data by default), their manifests and logs. It changes nothing.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := loadFolder(cmd, &flags, args)
			if err != nil {
				return err
			}
			folders, err := engine.InspectFolder(checkOptions(c))
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			for _, f := range folders {
				if database != "" && f.Name != database {
					continue
				}
				writeFolder(out, f, showTrees)
				if err := writeLog(out, f, showLog); err != nil {
					return err
				}
			}
			return nil
		},
	}
	flags.register(c)
	c.Flags().StringVar(&database, "database", "", "only this database")
	c.Flags().BoolVar(&showLog, "log", false, "list the flush groups and entries of the log")
	c.Flags().BoolVar(&showTrees, "trees", false, "list the trees of the manifest")
	return c
}

func writeFolder(out io.Writer, f engine.FolderInfo, showTrees bool) {
	name := f.Name
	if name == "" {
		name = "of roles and databases"
	}
	fmt.Fprintf(out, "database %s (number %d)\n", name, f.OID)
	if !f.HasOne {
		fmt.Fprintln(out, "  no checkpoint so far")
		return
	}
	m := f.Manifest
	var rows, bytes, live int64
	for _, r := range m.Roots {
		rows += r.Rows
	}
	for _, s := range m.Segments {
		bytes, live = bytes+s.Size, live+s.Live
	}
	fmt.Fprintf(out, "  checkpoint at commit %d: %d trees, %d entries, %d data files of %d bytes, %d of them live\n", m.Seq, len(m.Roots), rows, len(m.Segments), bytes, live)
	if !showTrees {
		return
	}
	for _, r := range m.Roots {
		fmt.Fprintf(out, "  tree %d: %d entries\n", r.Tree, r.Rows)
	}
}

func writeLog(out io.Writer, f engine.FolderInfo, list bool) error {
	var onGroup func(txlog.GroupInfo)
	var onEntry func(engine.LogEntry) error
	if list {
		onGroup = func(g txlog.GroupInfo) {
			fmt.Fprintf(out, "  group at %s:%d position %d, %d bytes, %d entries, log safe to %d\n", g.File, g.Offset, g.Position, g.Bytes, g.Entries, g.Synced)
		}
		onEntry = func(e engine.LogEntry) error {
			_, err := fmt.Fprintf(out, "    entry %d: %s, %d bytes, transaction %d, %d parts before, %d changes\n", e.Seq, e.Kind, e.Bytes, e.Transaction, e.Parts, len(e.Changes))
			return err
		}
	}
	sum, err := engine.InspectLog(vfs.OS, f.LogDir, 0, onGroup, onEntry)
	if err != nil {
		return fmt.Errorf("log of database %s: %w", f.Name, err)
	}
	_, err = fmt.Fprintf(out, "  log: %d files, %d groups, %d entries, last commit %d, ends at %s:%d\n", sum.Segments, sum.Groups, sum.Entries, sum.Last, sum.TailFile, sum.TailOffset)
	return err
}
