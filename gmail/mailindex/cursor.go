package mailindex

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
)

// A searchCursor is a place in the order of a search.
type searchCursor struct {
	at time.Time
	id string
}

// firstID is before all ids of messages.
const firstID = "0"

// maxCursor is the maximum length of a cursor, in bytes; a longer one is invalid.
const maxCursor = 500

func (c searchCursor) isZero() bool { return c.id == "" }

// in writes the cursor for a search, with a sum of both: a place in another search would skip messages of this one.
func (c searchCursor) in(scope string) string {
	place := dbtime.Format(c.at) + " " + c.id
	sum := sha256.Sum256([]byte(scope + "\x00" + place))
	return base64.RawURLEncoding.EncodeToString(append(sum[:8], place...))
}

// scope identifies a search.
func (s Search) scope(accountID string) string {
	scope := accountID + "\x00" + s.Query + "\x00" + strconv.FormatBool(s.SpamAndTrash)
	if s.Also.SQL != "" {
		scope += "\x00" + s.Also.SQL + fmt.Sprintf("%q", s.Also.Args)
	}
	return scope
}

// ErrSearchCursor reports that a cursor is invalid or belongs to another search.
var ErrSearchCursor = errors.New(
	"mailindex: Search.Cursor is not the Next of a page of this search; leave it empty for the first page")

func parseSearchCursor(text, scope string) (c searchCursor, err error) {
	if text == "" {
		return c, nil
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text[:min(len(text), maxCursor)])
	if err != nil || len(decoded) < 8 {
		return c, ErrSearchCursor
	}
	at, id, _ := strings.Cut(string(decoded[8:]), " ")
	if c.at, err = time.Parse(dbtime.Layout, at); err != nil || id == "" {
		return searchCursor{}, ErrSearchCursor
	}
	if c.id = id; c.in(scope) != text {
		return searchCursor{}, ErrSearchCursor
	}
	return c, nil
}
