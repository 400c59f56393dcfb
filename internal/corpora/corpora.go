// Package corpora finds collections of real mail, attacks and recorded answers that are not part of the repository,
// for tests.
package corpora

import (
	"cmp"
	"os"
	"path/filepath"
)

const variable = "POSTROOM_TEST_CORPORA"

// Path returns the path of a file or folder below the one that the environment variable POSTROOM_TEST_CORPORA names,
// an absolute path. If it is not set, nothing exists at the path that is returned, and the path says what to set.
func Path(elem ...string) string {
	return filepath.Join(append([]string{cmp.Or(os.Getenv(variable), "$"+variable)}, elem...)...)
}
