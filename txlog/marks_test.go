package txlog

import "testing"

// TestMarksOfOldEntries asks for a position that sees all entries above a number when more groups have come since than
// are remembered.
func TestMarksOfOldEntries(t *testing.T) {
	m := &marks{floor: 64}
	const groups = 3000
	for i := 1; i <= groups; i++ {
		m.add(Seq(10*i), Position(64+100*i))
	}
	for seq := Seq(0); seq <= 10*groups; seq += 5 {
		if at, most := m.before(seq), Position(64+100*(seq/10)); at > most {
			t.Fatalf("a replay from %d misses entries above %d, which begin at %d", at, seq, most)
		}
	}
	if at := m.before(10 * groups); at != 64+100*groups {
		t.Errorf("the newest group ends at %d", at)
	}
}
