package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"herd/backup"
	"herd/engine"
	"herd/internal/vfs"
)

// verification is the state of one that was stopped, in a file beside the backup.
type verification struct {
	Size    int64                 `json:"size"`
	Place   backup.Place          `json:"place"`
	Checker *engine.BackupChecker `json:"checker"`
}

const verifySuffix = ".verify"

// verifyBackup verifies a file and prints what it holds.
func verifyBackup(cmd *cobra.Command, name string, resume, mute bool) error {
	in, size, err := openBackup(name)
	if err != nil {
		return err
	}
	defer in.Close()
	v := &verification{Size: size, Checker: &engine.BackupChecker{}}
	r, err := v.open(in, name, resume)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer r.Close()
	from, started := r.Offset(), time.Now()
	show := newMeter(cmd.ErrOrStderr(), mute)
	saved := time.Now()
	err = readPieces(cmd.Context(), r, size, show, func(kind engine.BackupPiece, p []byte) error {
		if err := v.Checker.Piece(kind, p); err != nil {
			return err
		}
		if name != "-" && time.Since(saved) > 5*time.Second {
			saved = time.Now()
			return v.save(name, r)
		}
		return nil
	})
	show.end()
	if err == nil {
		err = v.Checker.Finished()
	}
	if err != nil {
		if errors.Is(err, errStopped) && name != "-" && v.save(name, r) == nil {
			return fmt.Errorf("%s: %w; --resume goes on from there", name, err)
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := os.Remove(name + verifySuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	writeBackup(cmd.OutOrStdout(), name, r, v.Checker)
	if from > 16 {
		fmt.Fprintf(cmd.OutOrStdout(), "verified from offset %d on, what is before was verified earlier\n", from)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s is whole: every checksum matches (%.1f s)\n", name, time.Since(started).Seconds())
	return nil
}

// open begins, or goes on where an earlier verification of the same file was stopped.
func (v *verification) open(in io.ReadSeeker, name string, resume bool) (*backup.Reader, error) {
	if !resume {
		return backup.NewReader(in)
	}
	p, err := os.ReadFile(name + verifySuffix)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.New("no verification was stopped; leave --resume out")
	}
	if err != nil {
		return nil, err
	}
	size := v.Size
	if err := json.Unmarshal(p, v); err != nil {
		return nil, fmt.Errorf("%s%s: %w", name, verifySuffix, err)
	}
	if v.Size != size {
		return nil, errors.New("the file has changed since the verification was stopped; leave --resume out")
	}
	if _, err := in.Seek(v.Place.Offset, io.SeekStart); err != nil {
		return nil, err
	}
	return backup.Resume(in, v.Place)
}

func (v *verification) save(name string, r *backup.Reader) (err error) {
	if v.Place, err = r.Place(); err != nil {
		return err
	}
	p, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return vfs.WriteFileAtomic(vfs.OS, "backup.verify", filepath.Dir(name), name+verifySuffix, p)
}

// writeBackup prints what a backup holds.
func writeBackup(out io.Writer, name string, r *backup.Reader, c *engine.BackupChecker) {
	m := r.Manifest()
	fmt.Fprintf(out, "%s: backup of %s, %d databases, %s of data in a file of %s\n", name, c.Head.Created.Format(time.RFC3339), len(c.Done), megabytes(m.Raw), megabytes(r.Offset()))
	fmt.Fprintf(out, "  archived log of the server: folder %s of server.log.archive.dir\n", c.Head.Identity)
	for _, d := range c.Done {
		fmt.Fprintf(out, "  %s: entry %d of %s, %d trees, %d rows\n", databaseLabel(d.Name), d.Index, d.Pinned.Format(time.RFC3339Nano), d.Trees, d.Rows)
	}
}
