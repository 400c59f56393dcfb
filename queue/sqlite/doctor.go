package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/postroom-go/postroom/queue/driver"
)

var _ driver.HealthChecker = (*engine)(nil)

// hugeLog is the size of the write-ahead log that is reported: far above the size after a checkpoint.
const hugeLog = 256 << 20

// CheckHealth implements [driver.HealthChecker].
func (db *engine) CheckHealth(ctx context.Context) ([]driver.Finding, error) {
	if findings := db.examineFile(); findings != nil {
		return findings, nil // its own statements about itself are not reliable
	}
	var facts struct {
		Version  string `db:"version"`
		Pages    int64  `db:"pages"`
		PageSize int64  `db:"page_size"`
		Free     int64  `db:"free"`
		Journal  string `db:"journal"`
	}
	err := db.reader.GetContext(ctx, &facts, `
SELECT sqlite_version() AS version, page_count AS pages, page_size, freelist_count AS free, journal_mode AS journal
FROM pragma_page_count, pragma_page_size, pragma_freelist_count, pragma_journal_mode`)
	if err != nil {
		return nil, err
	}
	findings := []driver.Finding{{
		Severity: driver.SeverityOK,
		Text: fmt.Sprintf("SQLite %s, journal %s, %d MB of which %d MB are free", facts.Version, facts.Journal,
			facts.Pages*facts.PageSize>>20, facts.Free*facts.PageSize>>20),
	}}
	if facts.Pages > 10_000 && facts.Free > facts.Pages/2 {
		findings = append(findings, driver.Finding{
			Severity: driver.SeverityWarning, Text: "more than half of the file is free",
			Hint: "it is used again; VACUUM gives it back, while nothing else writes",
		})
	}
	findings = append(findings, db.examineLog()...)
	findings = append(findings, db.examineDisk()...)
	checked, err := db.examinePages(ctx)
	return append(findings, checked...), err
}

func (db *engine) examineFile() []driver.Finding {
	if err := db.file.check(db.reader); err != nil {
		return []driver.Finding{{Severity: driver.SeverityProblem, Text: err.Error(),
			Hint: "nothing is written until then"}}
	}
	return nil
}

func (db *engine) examineLog() []driver.Finding {
	if db.file == nil {
		return nil
	}
	info, err := os.Stat(db.file.log)
	if err != nil || info.Size() < hugeLog {
		return nil
	}
	return []driver.Finding{{
		Severity: driver.SeverityWarning, Text: fmt.Sprintf("the write-ahead log has %d MB", info.Size()>>20),
		Hint: "some connection reads in a transaction that does not end, which keeps the log from being used anew; end it",
	}}
}

// scarce is the free space on the disk that is reported, and full the space with which writes fail, at the latest when
// the log is copied back.
const (
	scarce = 100 << 20
	full   = 1 << 20
)

func (db *engine) examineDisk() []driver.Finding {
	if db.file == nil {
		return nil
	}
	free, err := freeSpace(filepath.Dir(db.file.log))
	if err != nil || free >= scarce {
		return nil
	}
	f := driver.Finding{Severity: driver.SeverityWarning,
		Text: fmt.Sprintf("the disk of %s has %d MB left", db.file.path, free>>20), Hint: "make room on it"}
	if free < full {
		f.Severity, f.Text = driver.SeverityProblem, "the disk of "+db.file.path+" is full: writes fail"
	}
	return []driver.Finding{f}
}

func (db *engine) examinePages(ctx context.Context) ([]driver.Finding, error) {
	var lines []string
	if err := db.reader.SelectContext(ctx, &lines, "PRAGMA quick_check(10)"); err != nil {
		return nil, err
	}
	if len(lines) == 1 && lines[0] == "ok" {
		return []driver.Finding{{Severity: driver.SeverityOK, Text: "the file is sound (quick_check)"}}, nil
	}
	return []driver.Finding{{
		Severity: driver.SeverityProblem, Text: "the file is damaged: " + strings.Join(lines, "; "),
		Hint: "stop all programs, keep a copy, and restore a backup or use the recover command of SQLite's shell",
	}}, nil
}
