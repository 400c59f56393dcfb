package fields_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/fields"
)

func TestRequired(t *testing.T) {
	var none io.Reader
	var typed *strings.Reader
	var fn func()
	require.EqualError(t, fields.Required("x: Config.In", none, "a reader"),
		"x: Config.In is nil; it is required: give a reader")
	require.EqualError(t, fields.Required("x: Config.In", io.Reader(typed), "a reader"),
		"x: Config.In holds a nil *strings.Reader; it is required: give a reader")
	require.EqualError(t, fields.Required("x: Config.Do", fn, "a function"),
		"x: Config.Do is nil; it is required: give a function")
	require.EqualError(t, fields.Required("x: Config.In", typed, "a reader"),
		"x: Config.In is nil; it is required: give a reader")
	require.NoError(t, fields.Required("x: Config.In", strings.NewReader(""), "a reader"))
	require.NoError(t, fields.Required("x: Config.Err", errors.ErrUnsupported, "an error"))
	require.NoError(t, fields.Required("x: Config.Value", struct{}{}, "a value"))
}

func TestOptional(t *testing.T) {
	var none io.Reader
	var typed *strings.Reader
	require.NoError(t, fields.Optional("x: Config.In", none))
	require.NoError(t, fields.Optional("x: Config.In", strings.NewReader("")))
	require.EqualError(t, fields.Optional("x: Config.In", io.Reader(typed)),
		"x: Config.In holds a nil *strings.Reader; give one that is not nil, or leave the field nil")
}
