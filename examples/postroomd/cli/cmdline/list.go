package cmdline

import (
	"encoding/csv"
	"errors"
	"strings"

	"github.com/spf13/pflag"
)

// WholeLists has flags that take values separated by commas refuse several lines: pflag takes the first one and drops
// the others.
func WholeLists(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		flag := flags.Lookup(name)
		whole := wholeList{flag.Value}
		if slice, ok := flag.Value.(pflag.SliceValue); ok {
			flag.Value = wholeSlice{whole, slice}
		} else {
			flag.Value = whole
		}
		if flag.DefValue == "[]" {
			flag.DefValue = "" // help says nothing about it, as of pflag's own lists
		}
	}
}

// A wholeList is the value of a flag that takes its text whole or not at all.
type wholeList struct{ pflag.Value }

// A wholeSlice is a wholeList of a slice.
type wholeSlice struct {
	wholeList
	pflag.SliceValue
}

// Set implements [pflag.Value].
func (l wholeList) Set(text string) error {
	fields, _ := csv.NewReader(strings.NewReader(text)).Read() // the error is that of the flag's own Set
	if breaks(text) != breaks(strings.Join(fields, "")) {
		return errors.New("it has several lines; separate the values by commas, and quote one that has a line break")
	}
	return l.Value.Set(text)
}

func breaks(s string) int { return strings.Count(s, "\n") + strings.Count(s, "\r") }
