package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

func rulesTest() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test FILE",
		Short: "Run the tests of a rules file: message in, actions out",
		Long: "Run the tests of a rules file: those below tests: in it, and those of the file beside it whose name ends in .tests.yaml, as\n" +
			"rules.tests.yaml is beside rules.yaml. A test that fails says what was expected, what happened, and why.\n\n" +
			"    tests:\n" +
			"      - name: a newsletter leaves the inbox\n" +
			"        message: {from: news@shop.example, subject: Sale, headers: {List-Unsubscribe: <https://shop.example/leave>}}\n" +
			"        actions: [{action: move, parameters: {label: Newsletters}}]\n" +
			"      - name: a letter stays\n" +
			"        eml: mails/letter.eml\n" +
			"        actions: []",
		Args: cobra.ExactArgs(1),
	}
	further := cmd.Flags().StringArray("tests", nil, "a further file with tests; may be given several times")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		file, err := environment.ReadRulesFile(args[0])
		if err != nil {
			return err
		}
		tests, err := testsBeside(args[0], *further)
		if err != nil {
			return err
		}
		tests = append(file.Tests, tests...)
		if len(tests) == 0 {
			return usage.Errorf("%s holds no tests, and there is no %s; see 'postroomd rules test --help'", args[0],
				besidePath(args[0]))
		}
		results := file.Test(tests, environment.Kinds)
		if *asJSON {
			err = printer.JSON(cmd.OutOrStdout(), view.NewRuleTests(results))
		} else {
			err = view.PrintRuleTests(cmd.OutOrStdout(), results)
		}
		if failed := view.FailedTests(results); err == nil && failed > 0 {
			return fmt.Errorf("%d of %s failed", failed, printer.Count(len(results), "test", "tests"))
		}
		return err
	}
	return cmd
}

// besidePath returns the path of the tests of a rules file.
func besidePath(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".tests.yaml"
}

func testsBeside(path string, further []string) ([]rulesfile.Test, error) {
	beside := besidePath(path)
	if _, err := os.Stat(beside); err == nil {
		further = append([]string{beside}, further...)
	}
	var tests []rulesfile.Test
	for _, name := range further {
		more, err := rulesfile.ParseTestFile(name, rulesfile.WithKinds(environment.Kinds))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usage.Errorf("%w; name a YAML file with tests", err)
		}
		if err != nil {
			return nil, usage.Wrap(err)
		}
		tests = append(tests, more...)
	}
	return tests, nil
}
