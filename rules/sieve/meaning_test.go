package sieve_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/sieve"
)

// A scriptLine is a command of a small language of scripts, which this file evaluates by itself.
type scriptLine struct {
	// keep, discard, stop, fileinto, copy, redirect, forward (redirect :copy), setflag, addflag, removeflag, or if
	command  string
	arg      string
	own      []string // of :flags, if it is not nil
	branches []scriptBranch
}

type scriptBranch struct {
	test  string // the name of a header field, in lower case if rules have no condition for it; empty for else
	block []scriptLine
}

func (l *scriptLine) write(w *strings.Builder) {
	flags := ""
	if l.own != nil {
		flags = fmt.Sprintf(":flags %q ", strings.Join(l.own, " "))
	}
	switch l.command {
	case "keep":
		fmt.Fprintf(w, "keep %s;\n", flags)
	case "discard", "stop":
		fmt.Fprintf(w, "%s;\n", l.command)
	case "copy":
		fmt.Fprintf(w, "fileinto :copy %s%q;\n", flags, l.arg)
	case "forward":
		fmt.Fprintf(w, "redirect :copy %q;\n", l.arg)
	case "if":
		for i, b := range l.branches {
			word := map[bool]string{true: "if", false: "elsif"}[i == 0]
			switch {
			case b.test == "":
				fmt.Fprint(w, "else {\n")
			case strings.ToLower(b.test) == b.test:
				fmt.Fprintf(w, "%s mailboxexists %q {\n", word, b.test)
			default:
				fmt.Fprintf(w, "%s exists %q {\n", word, b.test)
			}
			for i := range b.block {
				b.block[i].write(w)
			}
			fmt.Fprint(w, "}\n")
		}
	default:
		fmt.Fprintf(w, "%s %s%q;\n", l.command, flags, l.arg)
	}
}

// A fate is what has become of a message.
type fate struct {
	inbox, trashed, read, starred bool
	labels, forwarded             string
}

// A scriptState evaluates a script as RFC 5228, 3894 and 5232 say, but for what Gmail has only one message for: the
// flags are those of what stores it last, and what is redirected stays.
type scriptState struct {
	truth     map[string]bool
	canceled  bool // the implicit keep is
	inbox     bool
	flags     map[string]bool
	stored    map[string]bool // the flags of what stored it last
	labels    map[string]bool
	forwarded map[string]bool
}

func (s *scriptState) store(l *scriptLine) {
	s.stored = maps.Clone(s.flags)
	if l.own != nil {
		s.stored = setOf(l.own...)
	}
}

func setOf(list ...string) map[string]bool {
	set := map[string]bool{}
	for _, one := range list {
		set[one] = true
	}
	return set
}

// do reports whether the script goes on.
func (s *scriptState) do(block []scriptLine) bool {
	for i := range block {
		l := &block[i]
		switch l.command {
		case "stop":
			return false
		case "keep":
			s.inbox, s.canceled = true, true
			s.store(l)
		case "discard":
			s.canceled = true
		case "fileinto", "copy":
			s.canceled = s.canceled || l.command == "fileinto"
			s.labels[l.arg] = true
			s.store(l)
		case "redirect", "forward":
			s.forwarded[l.arg] = true
		case "setflag":
			s.flags = setOf(l.arg)
		case "addflag":
			s.flags[l.arg] = true
		case "removeflag":
			delete(s.flags, l.arg)
		case "if":
			for _, b := range l.branches {
				if b.test == "" || s.truth[b.test] {
					if !s.do(b.block) {
						return false
					}
					break
				}
			}
		}
	}
	return true
}

func fateBySieve(script []scriptLine, truth map[string]bool) fate {
	s := &scriptState{truth: truth, flags: map[string]bool{}, labels: map[string]bool{}, forwarded: map[string]bool{}}
	s.do(script)
	if !s.canceled {
		s.inbox, s.stored = true, s.flags
	}
	if s.labels["INBOX"] {
		s.inbox = true
		delete(s.labels, "INBOX")
	}
	return fate{
		inbox: s.inbox, trashed: !s.inbox && len(s.labels) == 0, labels: joinedKeys(s.labels),
		forwarded: joinedKeys(s.forwarded),
		read:      s.stored[`\Seen`], starred: s.stored[`\Flagged`],
	}
}

func joinedKeys(set map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(set)), " ")
}

func fateByRules(t require.TestingT, set *rules.Set, truth map[string]bool) fate {
	msg := &postroom.Message{}
	for name, there := range truth {
		if there {
			msg.Headers = append(msg.Headers, postroom.Header{Name: name, Value: "x"})
		}
	}
	return fateOf(t, set, msg)
}

func fateOf(t require.TestingT, set *rules.Set, msg *postroom.Message) fate {
	f := fate{inbox: true}
	labels, forwarded := map[string]bool{}, map[string]bool{}
	for _, d := range set.DecideAll(msg, rulestest.Now) {
		label, _ := d.Parameters.Text("label")
		to, _ := d.Parameters.Text("to")
		switch d.Action {
		case postroom.Move:
			labels[label], f.inbox = true, false
		case postroom.ApplyLabel:
			labels[label] = true
		case postroom.Archive:
			f.inbox = false
		case postroom.Trash:
			f.trashed, f.inbox = true, false
		case postroom.MarkRead:
			f.read = true
		case postroom.Star:
			f.starred = true
		case postroom.Forward:
			forwarded[to] = true
		case postroom.None:
		default:
			require.Fail(t, "no script does this", d.Action)
		}
	}
	f.labels, f.forwarded = joinedKeys(labels), joinedKeys(forwarded)
	return f
}

func drawScript(t *rapid.T, tests []string, depth int) []scriptLine {
	commands := []string{"keep", "discard", "stop", "fileinto", "copy", "redirect", "forward", "setflag", "addflag",
		"removeflag", "fileinto", "discard"}
	if depth > 0 {
		commands = append(commands, "if", "if", "if", "if", "if", "if", "if", "if", "if", "if", "if", "if")
	}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) scriptLine {
		l := scriptLine{command: rapid.SampledFrom(commands).Draw(t, "command")}
		flag := rapid.SampledFrom([]string{`\Seen`, `\Flagged`})
		switch l.command {
		case "fileinto":
			l.arg = rapid.SampledFrom([]string{"A", "B", "INBOX", "C"}).Draw(t, "folder")
		case "copy":
			l.arg = rapid.SampledFrom([]string{"A", "B"}).Draw(t, "folder")
		case "redirect", "forward":
			l.arg = rapid.SampledFrom([]string{"a@a.example", "b@b.example"}).Draw(t, "to")
		case "setflag", "addflag", "removeflag":
			l.arg = flag.Draw(t, "flag")
		case "if":
			n := rapid.IntRange(1, 3).Draw(t, "branches")
			for i := range n {
				b := scriptBranch{test: rapid.SampledFrom(tests).Draw(t, "test"), block: drawScript(t, tests, depth-1)}
				if i > 0 && i == n-1 && rapid.Bool().Draw(t, "else") {
					b.test = ""
				}
				l.branches = append(l.branches, b)
			}
		}
		if (l.command == "keep" || l.command == "fileinto" || l.command == "copy") &&
			rapid.IntRange(0, 5).Draw(t, "own") == 0 {
			l.own = rapid.SliceOfNDistinct(flag, 0, 2, rapid.ID).Draw(t, "flags")
		}
		return l
	}), 0, 3).Draw(t, "block")
}

func rulesOfScript(t *rapid.T, script []scriptLine, kinds *postroom.Kinds) (*rules.Set, string,
	*rulesfile.Translation) {
	var text strings.Builder
	for i := range script {
		script[i].write(&text)
	}
	translation, err := sieve.Import(text.String(), kinds)
	require.NoError(t, err, text.String())
	for i := range translation.File.Rules { // in the order of the file
		require.Equal(t, i+1, translation.File.Rules[i].Position)
	}
	set := rules.NewSet(translation.File.Rules, kinds)
	require.Empty(t, set.Broken())
	return set, text.String(), translation
}

// Whatever blocks of a script go together, the rules do to each message what the script does.
func TestImportedRulesDoWhatTheScriptDoes(t *testing.T) {
	kinds := rulestest.WithForward(t)
	tests := []string{"X-A", "X-B", "X-C"}
	rapid.Check(t, func(t *rapid.T) {
		script := drawScript(t, tests, 2)
		set, text, translation := rulesOfScript(t, script, kinds)
		for bits := range 8 {
			truth := map[string]bool{"X-A": bits&1 > 0, "X-B": bits&2 > 0, "X-C": bits&4 > 0}
			require.Equal(t, fateBySieve(script, truth), fateByRules(t, set, truth), "%s\nwith %v\n%s\n%v", text, truth,
				translation.Marshal(), translation.Untranslated)
		}
		for _, u := range translation.Untranslated {
			require.Equal(t, rulesfile.Approximate, u.Left, "%s\n%s", text, u)
		}
	})
}

// Where a test has no condition, the rules do less than the script, and say so.
func TestImportedRulesDoNoMoreThanTheScript(t *testing.T) {
	kinds := rulestest.WithForward(t)
	tests := []string{"X-A", "X-B", "x-c", "x-d"}
	rapid.Check(t, func(t *rapid.T) {
		script := drawScript(t, tests, 2)
		set, text, translation := rulesOfScript(t, script, kinds)
		for bits := range 16 {
			truth := map[string]bool{"X-A": bits&1 > 0, "X-B": bits&2 > 0, "x-c": bits&4 > 0, "x-d": bits&8 > 0}
			want, got := fateBySieve(script, truth), fateByRules(t, set, truth)
			about := fmt.Sprintf("%s\nwith %v\n%s\n%v", text, truth, translation.Marshal(), translation.Untranslated)
			require.False(t, got.trashed && !want.trashed, about)
			require.False(t, !got.inbox && want.inbox, about)
			require.False(t, got.read && !want.read, about)
			require.Subset(t, strings.Fields(want.forwarded), strings.Fields(got.forwarded), about)
			if want != got {
				require.NotEmpty(t, translation.Untranslated, about)
			}
		}
	})
}

// The scripts of which the rules once threw away or took out of the inbox what the script keeps.
func TestDiscardOnlyCancelsTheImplicitKeep(t *testing.T) {
	kinds := rulestest.WithForward(t)
	for script, want := range map[string]fate{
		`if header :is "subject" "a" {discard;} if header :is "subject" "a" {keep;}`:         {inbox: true},
		`if header :is "subject" "a" {discard;} if header :is "subject" "a" {fileinto "X";}`: {labels: "X"},
		`if header :is "subject" "a" {fileinto "X";} if header :is "subject" "a" {keep;}`:    {inbox: true, labels: "X"},
		`addflag "\\Seen"; setflag "\\Flagged"; keep;`:                                       {inbox: true, starred: true},
		`setflag "\\Seen"; fileinto :flags "\\Flagged" "A";`:                                 {starred: true, labels: "A"},
		`keep; addflag "\\Seen";`:                {inbox: true},
		`addflag "\\Deleted"; keep;`:             {inbox: true},
		`discard; fileinto "Spam";`:              {inbox: true},
		`discard; fileinto "${x}";`:              {inbox: true},
		`discard; fileinto :copy "A";`:           {labels: "A"},
		`fileinto "Trash"; fileinto "A";`:        {labels: "A"},
		`fileinto "Trash";`:                      {trashed: true},
		`fileinto "Archive";`:                    {},
		`fileinto "Archive"; keep;`:              {inbox: true},
		`if header :is "subject" "a" {discard;}`: {trashed: true},
	} {
		translation, err := sieve.Import(script, kinds)
		require.NoError(t, err)
		set := rules.NewSet(translation.File.Rules, kinds)
		got := fateOf(t, set, &postroom.Message{Subject: "a", Headers: []postroom.Header{{Name: "Subject", Value: "a"}}})
		require.Equal(t, want, got, "%s\n%s", script, translation.Marshal())
	}
}

// What runs do to each other is looked at within bounds; beyond, the message is kept.
func TestLongScriptsAreTranslatedWithinBounds(t *testing.T) {
	var script strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&script, "if exists \"X-%d\" { addflag \"\\\\Seen\"; %s; }\n", i,
			[]string{`fileinto "A"`, "discard", "keep"}[i%3])
	}
	translation, err := sieve.Import(script.String(), nil)
	require.NoError(t, err)
	require.NotEmpty(t, translation.Untranslated)
	set := rules.NewSet(translation.File.Rules, nil)
	require.Empty(t, set.Broken())
	require.Equal(t, fate{inbox: true, labels: "A"},
		fateOf(t, set, &postroom.Message{Headers: []postroom.Header{{Name: "X-0"}, {Name: "X-1"}, {Name: "X-2"}}}))
}
