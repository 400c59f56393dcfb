package rules

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/stockrules"
)

func rulesStock() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stock [NAME]",
		Short: "Print rules that ship with postroomd, to copy: a screener, and cold mail",
		Long: "Print rules that ship with postroomd, with their tests. They do nothing until you copy them into your rules. Without a name,\n" +
			"list them.\n\n    postroomd rules stock screener --domain example.com > screener.yaml",
		Args: cobra.MaximumNArgs(1),
	}
	domain := cmd.Flags().String("domain", "", "the domain of your organisation, whose people are known; none if left out")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			t := printer.NewTable(cmd.OutOrStdout(), "NAME", "WHAT IT DOES")
			for _, s := range stockrules.All {
				t.Row(s.Name, s.Summary)
			}
			return t.Flush("")
		}
		text, err := stockrules.Text(args[0], *domain)
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(cmd.OutOrStdout(), text)
		return err
	}
	return cmd
}
