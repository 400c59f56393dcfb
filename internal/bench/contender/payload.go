package contender

import (
	"encoding/json"
	"strconv"
	"strings"
)

// PayloadSize is the length in bytes of the JSON that every job of every contender carries.
const PayloadSize = 100

// A Payload is the payload of a job. N identifies the job when it starts.
type Payload struct {
	N    int64  `json:"n"`
	Text string `json:"text"`
}

const payloadStart, payloadMiddle, payloadEnd = `{"n":`, `,"text":"`, `"}`

var payloadFiller = strings.Repeat("postroom ", PayloadSize/9)

// NewPayload returns the payload of job n.
func NewPayload(n int64) Payload {
	used := len(payloadStart) + len(strconv.FormatInt(n, 10)) + len(payloadMiddle) + len(payloadEnd)
	return Payload{N: n, Text: payloadFiller[:PayloadSize-used]}
}

// JSON is for contenders that take bytes.
func (p Payload) JSON() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // a number and a text
	}
	return text
}

// DecodePayload decodes a payload for a handler that gets bytes.
func DecodePayload(text []byte) (Payload, error) {
	var p Payload
	err := json.Unmarshal(text, &p)
	return p, err
}

// PayloadNumber reads only N: raw statements decode no payload. It returns -1 if there is none.
func PayloadNumber(text string) int64 {
	text = strings.TrimPrefix(text, payloadStart)
	end := strings.IndexByte(text, ',')
	if end < 0 {
		return -1
	}
	n, err := strconv.ParseInt(text[:end], 10, 64)
	if err != nil {
		return -1
	}
	return n
}
