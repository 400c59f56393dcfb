package main

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
)

// encode writes what one process of this program tells another, on a command line or a line of output.
func encode(v any) (string, error) {
	var buffer bytes.Buffer
	err := gob.NewEncoder(&buffer).Encode(v)
	return base64.StdEncoding.EncodeToString(buffer.Bytes()), err
}

// decode reads what encode has written.
func decode(text string, v any) error {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	return gob.NewDecoder(bytes.NewReader(data)).Decode(v) //nolint:gosec // what this program has written
}
