// Package stacks finds the stacks of goroutines by their numbers.
package stacks

import (
	"bytes"
	"runtime"
	"strconv"
)

// Self reads the number that the runtime gives the caller's goroutine, by which its stack is found among all; 0 when
// the runtime writes it another way.
func Self() uint64 {
	var buf [64]byte
	return parse(buf[:runtime.Stack(buf[:], false)])
}

// parse reads "goroutine 17 [running]:"; 0 when the runtime writes it another way.
func parse(stack []byte) uint64 {
	number, _, _ := bytes.Cut(bytes.TrimPrefix(stack, []byte("goroutine ")), []byte(" "))
	id, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// most bounds the text of all goroutines' stacks, which is searched.
const most = 64 << 20

// Of returns the stacks of the goroutines that exist of those with the numbers.
func Of(numbers []uint64) map[uint64]string {
	buf := make([]byte, 1<<20)
	n := runtime.Stack(buf, true)
	for n == len(buf) && n < most {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	all := make(map[uint64][]byte)
	for stack := range bytes.SplitSeq(buf[:n], []byte("\n\n")) {
		all[parse(stack)] = stack
	}
	delete(all, 0)
	found := make(map[uint64]string, len(numbers))
	for _, number := range numbers {
		found[number] = string(all[number])
	}
	return found
}
