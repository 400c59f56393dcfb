package webapi

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// A revised value has a revision, which its answer carries as ETag.
type revised interface{ Revised() int64 }

// etag is the entity tag of a revision.
func etag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// IfMatch returns the revision that the header field If-Match names (RFC 9110, section 13.1.1); 0 if there is none, or
// any will do. inBody is the revision that the body names, and 0 if it names none.
func IfMatch(r *http.Request, inBody int64) (int64, error) {
	text := r.Header.Get("If-Match")
	if text == "" || text == "*" {
		return inBody, nil
	}
	revision, err := strconv.ParseInt(strings.Trim(text, `"`), 10, 64)
	switch {
	case err != nil || text != etag(revision) || revision < 1:
		return 0, WithStatus(http.StatusBadRequest,
			fmt.Errorf("If-Match is %s; it must be the ETag that was read, such as %s", text, etag(1)))
	case inBody != 0 && inBody != revision:
		return 0, WithStatus(http.StatusBadRequest, errors.New("If-Match and revision in the body differ"))
	}
	return revision, nil
}

// CheckMatch returns an error with status 412 if If-Match names another revision than the one that is stored.
func CheckMatch(r *http.Request, stored int64) error {
	wanted, err := IfMatch(r, 0)
	if err != nil || wanted == 0 || wanted == stored {
		return err
	}
	return WithStatus(http.StatusPreconditionFailed,
		fmt.Errorf("it is at revision %d, and If-Match names %d: read it again", stored, wanted))
}
