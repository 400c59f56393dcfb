package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

// mostListed is how many entries a listing has at most, whatever it lists.
const mostListed = 500

// A listLimit is how many entries are listed.
type listLimit int

// limitFlag adds the flag that bounds a listing.
func limitFlag(cmd *cobra.Command) *int {
	limit := 20
	cmd.Flags().Var((*listLimit)(&limit), "limit", fmt.Sprintf("how many, 1 to %d", mostListed))
	return &limit
}

func (l *listLimit) String() string { return strconv.Itoa(int(*l)) }
func (l *listLimit) Type() string   { return "int" }

func (l *listLimit) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostListed {
		return fmt.Errorf("it must be a whole number within 1 and %d", mostListed)
	}
	*l = listLimit(n)
	return nil
}
