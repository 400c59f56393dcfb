package cmdline

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

// A listLimit is the number of entries to list.
type listLimit struct{ n, most int }

// LimitFlag adds the flag for the number of entries.
func LimitFlag(cmd *cobra.Command, most int) *int {
	limit := &listLimit{20, most}
	cmd.Flags().Var(limit, "limit", fmt.Sprintf("how many, 1 to %d", most))
	return &limit.n
}

func (l *listLimit) String() string { return strconv.Itoa(l.n) }
func (l *listLimit) Type() string   { return "int" }

func (l *listLimit) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > l.most {
		return fmt.Errorf("it must be a whole number within 1 and %d", l.most)
	}
	l.n = n
	return nil
}
