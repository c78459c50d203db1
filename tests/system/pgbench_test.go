package system

import (
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pgbench's three scripts run in all three protocols without an error, and the balances agree afterwards.
func TestPgbench(t *testing.T) {
	pgbench := Program(t, "pgbench")
	ForEach(t, func(t *testing.T, url string) {
		if out, err := exec.Command(pgbench, "-i", "-q", "-s", "1", url).CombinedOutput(); err != nil {
			t.Fatalf("pgbench -i: %v: %s", err, out)
		}
		c := Connect(t, url)
		if got := Value(t, c, "SELECT count(*) FROM pgbench_accounts"); got != "100000" {
			t.Errorf("%s accounts", got)
		}
		for _, mode := range []string{"simple", "extended", "prepared"} {
			for _, script := range []string{"tpcb-like", "select-only", "simple-update"} {
				for _, clients := range []string{"1", "8", "32"} {
					out, err := exec.Command(pgbench, "-n", "-M", mode, "-b", script, "-c", clients, "-j", "2", "-t", "30", url).CombinedOutput()
					if err != nil || !strings.Contains(string(out), "failed transactions: 0 ") {
						t.Fatalf("pgbench -M %s -b %s -c %s: %v: %s", mode, script, clients, err, out)
					}
				}
			}
		}
		// simple-update changes accounts only, so history is what accounts must equal and the other two what TPC-B wrote.
		history := Value(t, c, "SELECT sum(delta) FROM pgbench_history")
		if accounts := Value(t, c, "SELECT sum(abalance) FROM pgbench_accounts"); accounts != history {
			t.Errorf("history %s, accounts %s", history, accounts)
		}
		if got := Value(t, c, "SELECT count(*) FROM pgbench_history"); got != fmt.Sprint(2*3*30*(1+8+32)) {
			t.Errorf("%s rows of history", got)
		}
		tellers, branches := Value(t, c, "SELECT sum(tbalance) FROM pgbench_tellers"), Value(t, c, "SELECT sum(bbalance) FROM pgbench_branches")
		if tellers != branches || tellers == "0" {
			t.Errorf("tellers %s, branches %s", tellers, branches)
		}
	})
}

func TestSysbench(t *testing.T) {
	Program(t, "sysbench")
	script, err := filepath.Abs("../../bench/sysbench")
	if err != nil {
		t.Fatal(err)
	}
	ForEach(t, func(t *testing.T, address string) {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(script, u.Hostname(), u.Port(), "postgres", "postgres")
		cmd.Env = append(cmd.Environ(), "THREADS=4", "SECONDS_EACH=2", "TABLES=2", "ROWS=1000")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	})
}
