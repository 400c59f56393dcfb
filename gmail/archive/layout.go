package archive

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The parts of the names of objects. Of letters they have only small ones, which no bucket escapes.
const (
	root      = "v1/"
	rawEnd    = ".eml.zst"
	listEnd   = ".jsonl.zst"
	sealedEnd = ".age"
)

var (
	accountName  = regexp.MustCompile(`^[0-9a-z-]{1,64}$`)
	rawName      = regexp.MustCompile(`^raw/([0-9a-f]{2})/([0-9a-f]{64})\.eml\.zst(\.age)?$`)
	manifestName = regexp.MustCompile(`^manifest/(\d{10})\.jsonl\.zst$`)
)

func checkAccount(id string) error {
	if !accountName.MatchString(id) {
		return fmt.Errorf("archive: %q is no id of an account: it may have small letters, digits and hyphens, at most 64", id)
	}
	return nil
}

func prefixOf(accountID string) string { return root + accountID + "/" }

func end(sealed bool) string {
	if sealed {
		return sealedEnd
	}
	return ""
}

// rawKey is the name of a message's object.
func rawKey(accountID, sum string, sealed bool) string {
	return prefixOf(accountID) + "raw/" + sum[:2] + "/" + sum + rawEnd + end(sealed)
}

// manifestKey is the name of a manifest, encrypted or not: of two processes that write one of the same number, the
// bucket refuses the second.
func manifestKey(accountID string, number int64) string {
	return fmt.Sprintf("%smanifest/%010d%s", prefixOf(accountID), number, listEnd)
}

// An object is what the name of an object in the bucket says.
type object struct {
	key      string
	sum      string // of a message
	manifest int64  // the number of a manifest
}

// parseKey reads a name; ok is false for one that this package does not give.
func parseKey(accountID, key string) (o object, ok bool) {
	name, ours := strings.CutPrefix(key, prefixOf(accountID))
	if !ours {
		return o, false
	}
	o.key = key
	if m := rawName.FindStringSubmatch(name); m != nil {
		o.sum = m[2]
		return o, m[1] == m[2][:2]
	}
	m := manifestName.FindStringSubmatch(name)
	if m == nil {
		return o, false
	}
	var err error
	o.manifest, err = strconv.ParseInt(m[1], 10, 64)
	return o, err == nil && o.manifest > 0
}
