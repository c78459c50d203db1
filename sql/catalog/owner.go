package catalog

import (
	"fmt"

	"herd/storage"
)

// OwnerOf says in words what a tree belongs to, and whether that is an index, which can be built anew. It is empty when cat does
// not tell: nothing has the tree, or what would tell cannot be read.
func OwnerOf(cat Reader, tree storage.TreeID) (what string, isIndex bool) {
	if tree < storage.SystemTrees {
		return "the catalog", false
	}
	_ = cat.Relations(func(rel *Relation) bool { // what cannot be read stays without a name
		switch {
		case rel.TreeID == tree:
			what = fmt.Sprintf("table \"%s\"", rel.Name)
			return false
		case rel.LargeTree == tree:
			what = fmt.Sprintf("the large values of table \"%s\"", rel.Name)
			return false
		}
		for _, ix := range rel.Indexes {
			if ix.Tree == tree {
				what, isIndex = fmt.Sprintf("index \"%s\"", ix.Name), true
				return false
			}
		}
		return true
	})
	return what, isIndex
}
