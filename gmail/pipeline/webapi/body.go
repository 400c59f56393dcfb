package webapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// storable reports whether every database takes the text.
func storable(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

// checkAddress refuses ids that no database can look up.
func checkAddress(r *http.Request) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	for name, values := range query {
		if !storable(name + strings.Join(values, "")) {
			err = errors.New("it has a NUL, or bytes that are no UTF-8")
		}
	}
	if err != nil {
		return WithStatus(http.StatusBadRequest, fmt.Errorf("what follows the ? cannot be read: %w", err))
	}
	if !storable(r.URL.Path) {
		return WithStatus(http.StatusNotFound,
			errors.New("nothing has such an id: it has a NUL, or bytes that are no UTF-8"))
	}
	return nil
}

// ReadBody reads one JSON object. It refuses fields that into does not have.
func ReadBody(r *http.Request, into any) error {
	err := decodeBody(r.Body, into)
	if err != nil {
		return WithStatus(http.StatusBadRequest,
			fmt.Errorf("the body is one JSON object of at most %d bytes, and this is none: %w", MaxBody, err))
	}
	return nil
}

func decodeBody(body io.Reader, into any) error {
	text, err := io.ReadAll(body)
	switch {
	case err != nil:
		return err
	case !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")):
		return errors.New("it does not begin with {")
	case !utf8.Valid(text):
		return errors.New("it has bytes that are no UTF-8")
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		return err
	}
	if _, more := in.Token(); !errors.Is(more, io.EOF) {
		return errors.New("something follows the object")
	}
	return noNUL(text)
}

// noNUL refuses a text with a NUL at any depth of the object.
func noNUL(object []byte) error {
	in := json.NewDecoder(bytes.NewReader(object))
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if text, ok := token.(string); ok && strings.Contains(text, "\x00") {
			return errors.New("it has a text with a NUL")
		}
	}
}

// MadeHere refuses fields that the server sets, so that a caller does not believe that they are stored.
func MadeHere(id string, created, updated time.Time, revision int64) error {
	if id == "" && created.IsZero() && updated.IsZero() && revision == 0 {
		return nil
	}
	return WithStatus(http.StatusUnprocessableEntity,
		errors.New("id, created_at, updated_at and revision are set here; leave them out of what is new"))
}
