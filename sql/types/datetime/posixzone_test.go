package datetime

import "testing"

// A POSIX zone may have any name, also none, but rules only with the name of the other time.
func TestPosixZones(t *testing.T) {
	for name, known := range map[string]bool{
		"{1": true, "{1,2}": false, "ABC1DEF,2": false, "ABC1,M3.2.0,M11.1.0": false, "ABC1DEF,M3.2.0,M11.1.0": true, "ABC1DEF": true, "abc": false,
	} {
		if _, err := LoadZone(name); (err == nil) != known {
			t.Errorf("%s: %v, want it known: %v", name, err, known)
		}
	}
}
