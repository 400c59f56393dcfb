package wire

import (
	"strconv"
	"strings"
)

// A ContentRange is the part of a resumable upload in a request: the bytes from first to before end, of total.
type ContentRange struct {
	First, End, Total int64 // Total is -1 if unknown
	IsQuery           bool  // it has no bytes and asks how many the server has
}

// ParseContentRange parses "bytes 0-99/500", "bytes 0-99/*" and "bytes */500". Without the field the request has the
// whole upload.
func ParseContentRange(value string, length int64) (ContentRange, bool) {
	if value == "" {
		return ContentRange{End: length, Total: length}, length >= 0
	}
	span, total, ok := strings.Cut(strings.TrimPrefix(value, "bytes "), "/")
	c := ContentRange{Total: -1}
	if total != "*" {
		var err error
		if c.Total, err = strconv.ParseInt(total, 10, 64); err != nil || c.Total < 0 {
			return c, false
		}
	}
	if span == "*" {
		c.IsQuery = true
		return c, ok
	}
	first, last, isSpan := strings.Cut(span, "-")
	var err1, err2 error
	c.First, err1 = strconv.ParseInt(first, 10, 64)
	c.End, err2 = strconv.ParseInt(last, 10, 64)
	c.End++
	return c, ok && isSpan && err1 == nil && err2 == nil && c.First >= 0 && c.First < c.End &&
		(c.Total < 0 || c.End <= c.Total)
}

// IsLast reports whether this request completes the upload. have is the number of bytes before it.
func (c ContentRange) IsLast(have int64) bool {
	return c.Total >= 0 && (c.End == c.Total && c.First <= have && !c.IsQuery || c.IsQuery && have == c.Total)
}
