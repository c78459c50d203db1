package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"herd/conf"
)

// newConfCommand prints the table of settings, an example file, or the values in force.
func newConfCommand() *cobra.Command {
	var example, values bool
	var flags confFlags
	c := &cobra.Command{
		Use:   "conf",
		Short: "Print every setting with its default and meaning",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			switch {
			case example:
				return conf.WriteExample(out)
			case values:
				c, err := flags.load(cmd)
				if err != nil {
					return err
				}
				return c.WriteValues(out)
			}
			fmt.Fprint(out, "Settings come from, each replacing the one before: default, file (--config), environment, --set key=value.\n\n")
			return conf.WriteTable(out)
		},
	}
	c.Flags().BoolVar(&example, "example", false, "print a server.properties file with every key at its default")
	c.Flags().BoolVar(&values, "values", false, "print the values in force and where each comes from, given --config, --set and the environment")
	flags.register(c)
	return c
}

// confFlags are the flags that take part in the configuration.
type confFlags struct {
	file                         string
	sets                         []string
	mode, host, port, baseDir    string
	nodeID, clusterAddress, join string
}

func (f *confFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.file, "config", "", "server.properties `file`")
	flags.StringArrayVar(&f.sets, "set", nil, "set any `key=value`; repeatable")
	flags.StringVar(&f.mode, "mode", "", "same as --set server.mode=")
	flags.StringVar(&f.host, "host", "", "same as --set server.host=")
	flags.StringVar(&f.port, "port", "", "same as --set server.port=")
	flags.StringVar(&f.baseDir, "base-dir", "", "same as --set server.base.dir=")
	flags.StringVar(&f.nodeID, "node-id", "", "same as --set server.node.id=")
	flags.StringVar(&f.clusterAddress, "cluster-address", "", "same as --set server.cluster.address=")
	flags.StringVar(&f.join, "join", "", "same as --set server.cluster.join=")
}

// load reads file, environment and flags.
func (f *confFlags) load(c *cobra.Command) (*conf.Config, error) {
	s := conf.Sources{File: f.file, Environ: os.Environ()}
	for _, arg := range f.sets {
		set, err := conf.ParseSet(arg)
		if err != nil {
			return nil, usageError{c.CommandPath(), err}
		}
		s.Sets = append(s.Sets, set)
	}
	for _, short := range []struct{ flag, key, value string }{
		{"mode", "server.mode", f.mode}, {"host", "server.host", f.host}, {"port", "server.port", f.port}, {"base-dir", "server.base.dir", f.baseDir},
		{"node-id", "server.node.id", f.nodeID}, {"cluster-address", "server.cluster.address", f.clusterAddress}, {"join", "server.cluster.join", f.join},
	} {
		if c.Flags().Changed(short.flag) {
			s.Sets = append(s.Sets, conf.Setting{Key: short.key, Value: short.value, Flag: "--" + short.flag})
		}
	}
	return conf.Load(s)
}
