package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// keptFrom begins the part of a report that this program did not measure and leaves as it is.
const keptFrom = "<!-- What follows was measured by the commands that it names, and is kept when the rest is measured again. -->\n"

// writeReport writes text to a file, in which the part from [keptFrom] on stays.
func writeReport(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write report: %w", err)
	}
	if _, kept, found := strings.Cut(string(old), keptFrom); found {
		text = strings.TrimRight(text, "\n") + "\n\n" + keptFrom + kept
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // a document for all
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
