package lint

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every package has a doc.go with the four sections, and the files that it names exist.
func TestPackageDocs(t *testing.T) {
	tree := load(t)
	fileName := regexp.MustCompile(`[\w/]+\.go\b`)
	for _, dir := range sortedPackages(tree) {
		var doc *File
		testsOnly := true
		for _, file := range tree.Packages[dir] {
			if filepath.Base(file.Path) == "doc.go" {
				doc = file
			}
			testsOnly = testsOnly && file.Test
		}
		if testsOnly || dir == keepsModules {
			continue
		}
		if doc == nil || doc.AST.Doc == nil {
			t.Errorf("%s: no doc.go with a package comment", dir)
			continue
		}
		text := doc.AST.Doc.Text()
		files := ""
		for _, section := range []string{"Purpose", "Invariants", "Goroutines", "Files"} {
			at := regexp.MustCompile(`(?m)^(# )?` + section + `\b`).FindStringIndex(text)
			if at == nil {
				t.Errorf("%s lacks the section %q", doc.Path, section)
			} else if section == "Files" {
				files = text[at[1]:]
			}
		}
		for _, name := range fileName.FindAllString(files, -1) {
			if !exists(filepath.Join(tree.Root, dir, name)) && !exists(filepath.Join(tree.Root, name)) {
				t.Errorf("%s names %s, which is not there", doc.Path, name)
			}
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Every exported name at package level has a comment: on itself or on its group.
func TestExportedNamesDocumented(t *testing.T) {
	tree := load(t)
	for _, dir := range sortedPackages(tree) {
		for _, file := range tree.Packages[dir] {
			if file.Test || file.Generated || file.AST.Name.Name == "main" {
				continue
			}
			for _, decl := range file.AST.Decls {
				for _, name := range undocumented(decl) {
					t.Errorf("%s: %s has no comment", tree.Set.Position(decl.Pos()), name)
				}
			}
		}
	}
}

func undocumented(decl ast.Decl) []string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			return nil
		}
		var out []string
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
					out = append(out, s.Name.Name)
				}
			case *ast.ValueSpec:
				if s.Names[0].IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					out = append(out, s.Names[0].Name)
				}
			}
		}
		return out
	}
	return nil
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	kind := d.Recv.List[0].Type
	for {
		switch k := kind.(type) {
		case *ast.StarExpr:
			kind = k.X
		case *ast.IndexExpr:
			kind = k.X
		case *ast.IndexListExpr:
			kind = k.X
		case *ast.Ident:
			return k.IsExported()
		default:
			return false
		}
	}
}

// Every path in backquotes in the documents at the root exists.
func TestDocumentPaths(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`\n]+)`")
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	isPath := regexp.MustCompile(`^[\w.-]+(/[\w.-]+)*/?$`)
	for _, document := range []string{"README.md", "ARCHITECTURE.md", "WHERE.md"} {
		text, err := os.ReadFile(filepath.Join(root, document))
		if err != nil {
			t.Error(err)
			continue
		}
		found := 0
		for _, m := range append(quoted.FindAllStringSubmatch(string(text), -1), link.FindAllStringSubmatch(string(text), -1)...) {
			path := strings.TrimPrefix(m[1], "./")
			if !isPath.MatchString(path) || !strings.Contains(path, "/") && !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".md") {
				continue
			}
			found++
			if first, _, _ := strings.Cut(path, "/"); !exists(filepath.Join(root, path)) && exists(filepath.Join(root, first)) || strings.HasSuffix(path, ".go") && !exists(filepath.Join(root, path)) {
				t.Errorf("%s names %s, which is not there", document, path)
			}
		}
		if found == 0 {
			t.Errorf("%s names no file at all", document)
		}
	}
}

// ARCHITECTURE.md shows the import table that TestLayers enforces.
func TestArchitectureShowsTable(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "```"+layers+"```") {
		t.Error("ARCHITECTURE.md does not show the import table of internal/lint/deps_test.go; copy it there")
	}
}
