package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Module is the import path of the repository.
const Module = "herd"

// File is one parsed Go file.
type File struct {
	// Path is relative to the root of the repository.
	Path string
	// Test is true for _test.go files.
	Test bool
	// Generated is true for files that say so in their first lines.
	Generated bool
	// AST is the parsed file with comments.
	AST *ast.File
}

// Tree is the repository as the tests see it.
type Tree struct {
	// Root is the absolute path of the folder with go.mod.
	Root string
	// Packages maps a folder relative to Root to its files, for every folder with Go files.
	Packages map[string][]*File
	// Set holds the positions of all files.
	Set *token.FileSet
}

// Root finds the folder with go.mod above the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod above the working directory")
		}
		dir = parent
	}
}

// Load parses every Go file of the repository outside testdata folders.
func Load() (*Tree, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	t := &Tree{Root: root, Packages: map[string][]*File{}, Set: token.NewFileSet()}
	return t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "herd-data")) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		return t.add(path)
	})
}

func (t *Tree) add(path string) error {
	parsed, err := parser.ParseFile(t.Set, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(t.Root, path)
	if err != nil {
		return err
	}
	f := &File{Path: filepath.ToSlash(relative), Test: strings.HasSuffix(path, "_test.go"), Generated: ast.IsGenerated(parsed), AST: parsed}
	dir := filepath.ToSlash(filepath.Dir(relative))
	t.Packages[dir] = append(t.Packages[dir], f)
	return nil
}

// Imports returns the import paths of a file.
func (f *File) Imports() []string {
	var out []string
	for _, i := range f.AST.Imports {
		out = append(out, strings.Trim(i.Path.Value, `"`))
	}
	return out
}
