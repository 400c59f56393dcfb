package rules

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/editor"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

func rulesFormat() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fmt FILE...",
		Short: "Bring rules files into their canonical form; comments stay",
		Long: "Bring rules files into their canonical form, and name those that have changed. Comments stay with what they stand before,\n" +
			"behind or below. The file - is the standard input, whose canonical form goes to the standard output.",
		Args: cobra.MinimumNArgs(1),
	}
	check := cmd.Flags().Bool("check", false,
		"change nothing; name the files that are not in their canonical form, and fail if there are any")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		different := 0
		for _, path := range args {
			changed, err := formatRules(cmd, path, *check)
			if err != nil {
				return err
			}
			if !changed {
				continue
			}
			different++
			if path != "-" || *check {
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), path); err != nil {
					return err
				}
			}
		}
		if *check && different > 0 {
			return fmt.Errorf("%d of %s not in canonical form; 'postroomd rules fmt' brings files into it", different,
				printer.Count(len(args), "file is", "files are"))
		}
		return nil
	}
	return cmd
}

// formatRules reports whether the file is not in its canonical form.
func formatRules(cmd *cobra.Command, path string, check bool) (changed bool, err error) {
	var data []byte
	if path == "-" {
		data, err = io.ReadAll(cmd.InOrStdin())
	} else {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return false, usage.Wrap(err)
	}
	out, err := rulesfile.Format(path, data)
	switch {
	case err != nil:
		return false, usage.Wrap(err)
	case check:
		return !bytes.Equal(data, out), nil
	case path == "-":
		_, err = cmd.OutOrStdout().Write(out)
		return !bytes.Equal(data, out), err
	case bytes.Equal(data, out):
		return false, nil
	}
	return true, editor.Rewrite(path, string(data), string(out))
}
