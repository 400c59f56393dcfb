package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/internal/suggest"
)

// flagFault describes the fault of a flag, with a suggestion.
func flagFault(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var wrong *pflag.InvalidValueError
	var lonely *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		return usage.Errorf("%w%s", err, meantFlag(cmd, unknown))
	case errors.As(err, &wrong):
		return usage.Errorf("--%s is %s; %s", wrong.GetFlag().Name, cmp.Or(wrong.GetValue(), "empty"),
			valueOf(wrong.GetFlag(), err))
	case errors.As(err, &lonely):
		return usage.Errorf("--%s needs a value: %s", lonely.GetFlag().Name, lonely.GetFlag().Usage)
	}
	return err
}

func meantFlag(cmd *cobra.Command, unknown *pflag.NotExistError) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	word := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName())
	word, _, _ = strings.Cut(word, "=")
	near := suggest.Nearest(word, names)
	if i := slices.IndexFunc(names, func(name string) bool {
		return strings.HasPrefix(name, word)
	}); near == "" && i >= 0 {
		near = names[i]
	}
	if near != "" {
		return fmt.Sprintf("; did you mean --%s?", near)
	}
	if unknown.GetSpecifiedShortnames() != "" && searches(cmd) {
		return fmt.Sprintf("; put -- before a search that begins with a dash, as in %s -- -%s", cmd.CommandPath(),
			unknown.GetSpecifiedShortnames())
	}
	return fmt.Sprintf("; see %s --help", cmd.CommandPath())
}

// valueOf describes the value of a flag.
func valueOf(flag *pflag.Flag, err error) string {
	switch flag.Value.Type() {
	case "bool":
		return "write true or false, or the flag alone"
	case "float64":
		return "it must be a number, such as 0.5"
	case "duration":
		return "it must be a time, such as 30s or 5m"
	}
	if cause := errors.Unwrap(err); cause != nil {
		return cause.Error()
	}
	return err.Error()
}
