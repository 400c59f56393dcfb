package main

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
)

// encode encodes a message between processes of this program, on a command line or a line of output.
func encode(v any) (string, error) {
	var buffer bytes.Buffer
	err := gob.NewEncoder(&buffer).Encode(v)
	return base64.StdEncoding.EncodeToString(buffer.Bytes()), err
}

// decode decodes the result of encode.
func decode(text string, v any) error {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	return gob.NewDecoder(bytes.NewReader(data)).Decode(v) //nolint:gosec // what this program has written
}
