package conf

import (
	"bufio"
	"fmt"
	"io"
)

// WriteTable prints every key with default, allowed values and meaning, for people. Used by `herd conf`.
func WriteTable(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i := range table {
		k := &table[i]
		def := k.Default
		if def == "" {
			def = "(empty)"
		}
		fmt.Fprintf(b, "%s = %s\n    %s\n    %s: %s; environment %s\n", k.Name, def, k.Meaning, k.Kind, k.Allowed, k.Env())
	}
	return b.Flush()
}

// WriteExample prints a server.properties file with every key at its default, commented. Used by `herd conf --example`.
func WriteExample(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "# herd server.properties: every key at its default. Remove the # before a key to set it.")
	for i := range table {
		k := &table[i]
		fmt.Fprintf(b, "\n# %s\n# %s: %s\n#%s=%s\n", k.Meaning, k.Kind, k.Allowed, k.Name, k.Default)
	}
	return b.Flush()
}

// WriteValues prints the value of every key as given, and where it came from. Used by `herd conf --values`.
func (c *Config) WriteValues(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i := range table {
		name := table[i].Name
		text := c.texts[name]
		if table[i].Secret && text != "" {
			text = "********"
		}
		fmt.Fprintf(b, "%s=%s  # %s\n", name, text, c.Source(name))
	}
	return b.Flush()
}
