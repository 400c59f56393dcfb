package cli

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/view/drafts"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/gmail/tasks"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// A completer returns the values that a shell proposes, each with a description after a tab, if it has one.
type completer func(ctx context.Context, cmd *cobra.Command) ([]string, error)

// completionPatience bounds how long a shell waits for a database.
const completionPatience = 2 * time.Second

// completionLimit bounds how many entries of a list a shell proposes: the newest.
const completionLimit = 50

// argumentValues are the values of arguments, by the names that [whereFound] has as well.
var argumentValues = map[string]completer{
	"MESSAGE":             stored(storedMail),
	"VERSION":             stored(storedVersions),
	"A":                   stored(storedVersions),
	"B":                   stored(storedVersions),
	"SESSION":             stored(storedSessions),
	"accounts ADDRESS":    stored(storedMailboxes),
	"auth ADDRESS":        stored(storedMailboxes),
	"approvals ID":        stored(storedApprovals),
	"approvals ID...":     stored(storedApprovals),
	"decisions ID":        stored(storedDecisions),
	"instructions ID":     stored(storedInstructions),
	"jobs ID":             stored(storedJobs),
	"tasks ID":            stored(storedTasks),
	"notes ID":            stored(storedNotes),
	"drafts ID":           stored(storedDrafts),
	"mail ID":             stored(storedMail),
	"postroomd ID":        stored(storedMail),
	"postroomd ACTION_ID": stored(storedActions),
}

// flagValues are the values of flags, by command and name, or by name for all commands.
var flagValues = map[string]completer{
	"mailbox":         stored(storedMailboxes),
	"rule":            stored(storedRules),
	"all-of":          stored(storedRules),
	"batch":           stored(storedBatches),
	"session":         stored(storedSessions),
	"source":          fixed(command.Sources),
	"kind":            fixed(command.Texts(environment.Kinds.Types())),
	"type":            fixed(typesAndUndos()),
	"actions state":   fixed(command.Texts(postroom.ActionStates())),
	"jobs list state": fixed(command.Texts(queue.States())),
	"jobs list type":  fixed(app.JobTypes),
}

// fileArguments and fileFlags are completed by the shell, with the names of files.
var (
	fileArguments = []string{"FILE", "FILE...", "DIR"}
	fileFlags     = []string{"config", "data", "rules", "tests", "mbox", "maildir", "eml", "against", "html"}
)

// completes makes a shell propose values for the arguments and flags of all commands: those of the database, where it
// is there, and no names of files where none are meant.
func completes(cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		completes(below)
	}
	if !cmd.HasParent() || cmd.HasSubCommands() {
		return
	}
	cmd.ValidArgsFunction = completeArgument
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.NoOptDefVal != "" || slices.Contains(fileFlags, f.Name) {
			return
		}
		of, ok := flagValues[typedAs(cmd)+" "+f.Name]
		if !ok {
			of = flagValues[f.Name]
		}
		_ = cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, begun string) ([]string,
			cobra.ShellCompDirective) {
			return propose(cmd, of, begun, f.Value.Type() == "stringSlice")
		})
	})
}

func completeArgument(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	required, optional := argumentsOf(cmd)
	all := slices.Concat(required, optional)
	i := len(args)
	if last := len(all) - 1; last >= 0 && i > last && strings.HasSuffix(all[last], "...") {
		i = last
	}
	if i >= len(all) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if slices.Contains(fileArguments, all[i]) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	of, ok := argumentValues[cmd.Parent().Name()+" "+all[i]]
	if !ok {
		of = argumentValues[all[i]]
	}
	return propose(cmd, of, begun, false)
}

// propose returns the values that begin as what is typed. Of a list with commas the last is completed.
func propose(cmd *cobra.Command, of completer, begun string, list bool) ([]string, cobra.ShellCompDirective) {
	const noFiles = cobra.ShellCompDirectiveNoFileComp
	if of == nil {
		return nil, noFiles
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
	defer cancel()
	values, err := of(ctx, cmd)
	if err != nil { // such as that there is no database: then there is nothing to propose
		return nil, noFiles
	}
	before := ""
	if i := strings.LastIndexByte(begun, ','); list && i >= 0 {
		before, begun = begun[:i+1], begun[i+1:]
	}
	var proposed []string
	for _, v := range values {
		if value, about, has := strings.Cut(v, "\t"); strings.HasPrefix(value, begun) {
			proposed = append(proposed, before+printer.Printable(value)+printer.Unless(!has, "\t"+printer.Printable(about)))
		}
	}
	return proposed, noFiles
}

func fixed(values []string) completer {
	return func(context.Context, *cobra.Command) ([]string, error) { return values, nil }
}

// typesAndUndos are the kinds of actions, and their undos.
func typesAndUndos() []string {
	types := command.Texts(environment.Kinds.Types())
	return append(types, printer.List(types, func(t string) string { return "undo_" + t })...)
}

// stored is a completer by the database that the flags of the command name. It is opened as by the commands that only
// look.
func stored(list func(ctx context.Context, h *app.App, cmd *cobra.Command) ([]string, error)) completer {
	return func(ctx context.Context, cmd *cobra.Command) (values []string, err error) {
		place, ok := placeOf(cmd)
		if !ok {
			return nil, nil
		}
		cmd.SetContext(ctx)
		cmd.SetErr(io.Discard) // warnings are no values
		err = command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			values, err = list(ctx, h, cmd)
			return err
		})
		return values, err
	}
}

// placeOf reads the flags that name an environment.
func placeOf(cmd *cobra.Command) (*command.EnvironmentFlags, bool) {
	flags := cmd.Flags()
	data, noData := flags.GetString("data")
	file, noFile := flags.GetString("config")
	set, noSet := flags.GetStringArray("set")
	return &command.EnvironmentFlags{Data: data, Config: command.ConfigFlags{File: file, Set: set}}, noData == nil &&
		noFile == nil && noSet == nil
}

// described is a value with what a person knows it by.
func described(value string, words ...string) string {
	return value + "\t" + printer.Short(strings.Join(words, " "), 60)
}

func storedMailboxes(ctx context.Context, h *app.App, _ *cobra.Command) ([]string, error) {
	accounts, err := h.Mail.Accounts(ctx)
	return printer.List(accounts, func(a mailstore.Account) string { return a.Email }), err
}

func storedRules(ctx context.Context, h *app.App, _ *cobra.Command) ([]string, error) {
	list, err := h.Rules.List(ctx)
	names := printer.List(list, func(r rules.Rule) string { return r.Name })
	slices.Sort(names)
	return slices.Compact(names), err
}

func storedBatches(ctx context.Context, h *app.App, _ *cobra.Command) ([]string, error) {
	latest, err := h.Ledger.Decisions(ctx, safety.Filter{KeyPrefix: postroom.BatchKeyPrefix, Limit: app.MaxListed})
	names := printer.List(latest, func(d safety.DecisionRecord) string { return command.BatchName(d.Decision.Key) })
	slices.Sort(names)
	return slices.Compact(names), err
}

func storedSessions(ctx context.Context, h *app.App, _ *cobra.Command) ([]string, error) {
	list, err := view.NewChatSessions(ctx, h, "", completionLimit)
	return printer.List(list, func(s view.ChatSession) string { return described(s.ID, s.About) }), err
}

func storedVersions(ctx context.Context, h *app.App, _ *cobra.Command) ([]string, error) {
	list, err := view.NewRulesVersions(ctx, h, "", completionLimit)
	return printer.List(list, func(v view.RulesVersion) string {
		return described(strconv.FormatInt(v.Version, 10), printer.Clock(v.CreatedAt), v.Detail)
	}), err
}

func storedApprovals(ctx context.Context, h *app.App, _ *cobra.Command) ([]string, error) {
	waiting, err := h.Ledger.Approvals(ctx, safety.Filter{Limit: completionLimit})
	return printer.List(waiting, func(w safety.Waiting) string {
		return described(w.Action.ID, string(w.Action.Type), w.Decision.Subject)
	}), err
}

func storedDecisions(ctx context.Context, h *app.App, _ *cobra.Command) ([]string, error) {
	records, err := h.Ledger.Decisions(ctx, safety.Filter{Limit: completionLimit})
	return printer.List(records, func(d safety.DecisionRecord) string {
		return described(d.ID, view.DecidedBy(d.Decision), d.Subject)
	}), err
}

func storedInstructions(ctx context.Context, h *app.App, _ *cobra.Command) ([]string, error) {
	list, err := view.NewInstructions(ctx, h)
	return printer.List(list, func(i view.Instruction) string { return described(i.ID, i.Text) }), err
}

func storedTasks(ctx context.Context, h *app.App, cmd *cobra.Command) ([]string, error) {
	list, err := h.Tasks.List(ctx, tasks.Filter{OpenOnly: cmd.Name() == "close", Limit: completionLimit})
	return printer.List(list, func(t tasks.Task) string { return described(t.ID, t.Title) }), err
}

func storedNotes(ctx context.Context, h *app.App, _ *cobra.Command) ([]string, error) {
	list, err := h.Notes.List(ctx, notes.Filter{Limit: completionLimit})
	return printer.List(list, func(n notes.Note) string { return described(n.ID, n.Path) }), err
}

func storedDrafts(ctx context.Context, h *app.App, cmd *cobra.Command) ([]string, error) {
	filter := replies.Filter{States: drafts.Open(), Limit: completionLimit}
	if cmd.Name() == "show" {
		filter.States = nil
	}
	v, err := drafts.NewPage(ctx, h, filter)
	return printer.List(v.List, func(d drafts.Draft) string { return described(d.ID, d.Subject) }), err
}

func storedJobs(ctx context.Context, h *app.App, cmd *cobra.Command) ([]string, error) {
	filter := queue.Filter{Limit: completionLimit}
	switch cmd.Name() {
	case "retry":
		filter.States = []queue.State{queue.StateFailed, queue.StateCanceled}
	case "cancel":
		filter.States = []queue.State{queue.StateQueued, queue.StateRunning}
	}
	jobs, err := h.Queue.Jobs(ctx, filter)
	return printer.List(jobs, func(j queue.Job) string { return described(j.ID, j.Type, string(j.State)) }), err
}

func storedMail(ctx context.Context, h *app.App, cmd *cobra.Command) ([]string, error) {
	address, _ := cmd.Flags().GetString("mailbox") // explain has none
	account, err := command.Mailbox(ctx, h, address)
	if err != nil {
		return nil, err
	}
	page, err := h.SearchMail(ctx, account.ID, mailindex.Search{SpamAndTrash: true, Limit: completionLimit})
	return printer.List(page.Messages, func(m *postroom.Message) string { return described(m.ProviderID, m.Subject) }), err
}

func storedActions(ctx context.Context, h *app.App, _ *cobra.Command) ([]string, error) {
	done, err := h.Ledger.Actions(ctx, safety.Filter{States: []postroom.ActionState{postroom.ActionCompleted},
		Limit: completionLimit})
	return printer.List(done, func(e safety.Entry) string {
		return described(e.Action.ID, string(e.Action.Type), e.Decision.Subject)
	}), err
}
