package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
)

// whereFound describes an argument and the place of its value, by its name in the usage of a command: for all
// commands, or for the subcommands of one.
var whereFound = map[string]string{
	"FILE":             "the name of a file",
	"FILE...":          "the names of files",
	"DIR":              "the name of a folder",
	"TEXT":             "a text, in quotes",
	"WORDS":            "what to search for; 'postroomd mail list' lists all",
	"MESSAGE":          "a message; 'postroomd mail list' lists them with their ids",
	"VERSION":          "the number of a version of the rules; 'postroomd rules history' lists them",
	"SESSION":          "the id of a session; 'postroomd rules chat list' lists them",
	"NUMBER":           "the number of a message in the session; 'postroomd rules chat show SESSION' shows them",
	"SENDER":           "the address of a sender; 'postroomd unsubscribe status' lists those of left lists",
	"SENDER...":        "the addresses of senders; 'postroomd unsubscribe list' lists those of lists",
	"LABEL":            "the name or the id of a label; 'postroomd labels list' lists them",
	"learn ID":         "the id of a learned rule; 'postroomd learn list' lists them",
	"learn RULE":       "a rule that warns or asks, or models; 'postroomd learn list' lists them",
	"learn LESSON":     "always or never",
	"learn ANSWER":     "yes or no",
	"learn COUNT":      "how many corrections in bulk there are; 'postroomd learn list' says so",
	"tokens NAME":      "the name of a token; 'postroomd tokens list' lists them",
	"accounts ADDRESS": "the address of a mailbox; 'postroomd accounts list' lists them",
	"auth ADDRESS":     "the address of a mailbox that is signed in to; 'postroomd auth list' lists them",
	"approvals ID":     "the id of an action that waits; 'postroomd approvals list' lists them",
	"decisions ID":     "the id of a decision; 'postroomd decisions list' lists them",
	"instructions ID":  "the id of an instruction; 'postroomd instructions list' lists them",
	"drafts ID":        "the id of a draft; 'postroomd drafts list' lists the open ones",
	"drafts SENTENCE":  "what should be different, in quotes",
	"agents RUN":       "the id of a run; 'postroomd agents list' lists them",
	"agents PROFILE":   "the name of an agent; 'postroomd agents profiles' lists them",
	"agents SCHEDULE":  "the id of a schedule; 'postroomd agents list' lists them",
	"agents MESSAGE":   "the id of a message; 'postroomd mail list' lists them",
	"enrich STAGE":     "category, importance or calendar",
	"tasks ID":         "the id of a task; 'postroomd tasks list' lists the open ones",
	"notes ID":         "the id of a note; 'postroomd notes list' lists them",
	"reminders ID":     "the id of a reminder; 'postroomd reminders list' lists them",
	"reminders WHEN":   "when it comes, such as tomorrow, 'friday 9:30' or 'in 3 hours', in quotes",
	"jobs ID":          "the id of a job; 'postroomd jobs list' lists them",
	"mail ACTION":      "what to do, such as archive; --help names more",
	"mail ID":          "the id of a message; 'postroomd mail list' lists them",
	"postroomd ID":     "the id of a message or of an action; 'postroomd mail list' and 'postroomd actions' list them",
}

// namesArguments makes all commands name the missing or superfluous argument; cobra's own checks only give the
// permitted number.
func namesArguments(cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		namesArguments(below)
	}
	check := cmd.Args
	if check == nil || !cmd.HasParent() {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		required, optional := argumentsOf(cmd)
		for i, name := range required {
			switch {
			case i >= len(args):
				return usage.Errorf("%s needs %s: %s", typedAs(cmd), name, found(cmd, name))
			case strings.TrimSpace(args[i]) == "":
				return usage.Errorf("%s needs %s, which is empty: %s", typedAs(cmd), name, found(cmd, name))
			}
		}
		err := check(cmd, args)
		if all := slices.Concat(required, optional); err != nil && len(args) > len(all) {
			return usage.Errorf("%s takes %s, and %q is too many; put a text with blanks in quotes", typedAs(cmd),
				orNothing(all), args[len(all)])
		}
		return err
	}
}

// typedAs returns a command without the name of the program, which precedes each error.
func typedAs(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// argumentsOf returns the required and the optional arguments in the usage of a command.
func argumentsOf(cmd *cobra.Command) (required, optional []string) {
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if name := strings.Trim(word, "[]"); strings.HasPrefix(word, "[") {
			optional = append(optional, name)
		} else {
			required = append(required, name)
		}
	}
	return required, optional
}

func orNothing(arguments []string) string {
	if len(arguments) == 0 {
		return "no arguments"
	}
	return strings.Join(arguments, " ") + " alone"
}

func found(cmd *cobra.Command, argument string) string {
	if where, ok := whereFound[cmd.Parent().Name()+" "+argument]; ok {
		return where
	}
	return whereFound[argument]
}

// searches reports whether the arguments of a command are a search.
func searches(cmd *cobra.Command) bool {
	required, optional := argumentsOf(cmd)
	return slices.ContainsFunc(append(required, optional...), func(name string) bool {
		return name == "WORDS" || name == "QUERY"
	})
}
