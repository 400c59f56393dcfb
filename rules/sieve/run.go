package sieve

import (
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/translate"
)

// An execution is actions in a row, under the same tests.
type execution struct {
	at      int // its place among the runs
	line    int
	path    []step
	unknown string // why its tests have no condition; empty if they have one

	keep    bool // keep, or filed into the inbox
	filed   bool // filed anywhere but the inbox and the trash, and not as a copy
	discard bool
	trash   bool // filed into the trash
	stop    bool
	labels  []string
	copied  []string // of fileinto :copy
	copies  bool     // filed as a copy, wherever
	flags   []flagChange
	forward []string
	lost    []string
	near    []string // the inexact parts
}

// A step is a branch of an if that a run is in. Branches of one chain never go together.
type step struct {
	chain, branch int
	tests         []rules.Condition // the test of the branch, and the negations of those before
}

// A flagChange is the effect of a command on flags (RFC 5232): it changes the script's, or stores the message with
// them.
type flagChange struct {
	run   *execution
	how   string   // addflag, setflag, removeflag, store, or own for a store with :flags
	flags []string // in lower case
}

// folders are the names of folders that are no labels at Gmail.
var folders = map[string]postroom.ActionType{
	"inbox": postroom.None, "trash": postroom.Trash, "deleted items": postroom.Trash, "deleted messages": postroom.Trash, "archive": postroom.Archive, "archives": postroom.Archive,
}

// folderAction returns the label of a folder, or Gmail's equivalent action.
func folderAction(folder string) (label string, special postroom.ActionType) {
	name := strings.TrimPrefix(strings.TrimPrefix(folder, "INBOX."), "INBOX/")
	return name, folders[strings.ToLower(name)]
}

func isSpamFolder(name string) bool {
	return strings.EqualFold(name, "spam") || strings.EqualFold(name, "junk")
}

// add takes one action into the run.
func (r *execution) add(c *command) {
	if r.line == 0 {
		r.line = c.line
	}
	tagged := func(name string) bool {
		return slices.ContainsFunc(c.tags, func(t tag) bool { return t.name == name })
	}
	args, store := c.args, flagChange{run: r, how: "store"}
	if tagged("flags") && len(args) > 0 { // the tag comes first, and the flags follow it
		store.how, store.flags = "own", r.known(args[0])
		args = args[1:]
	}
	one := ""
	if len(args) == 1 && len(args[0]) == 1 {
		one = args[0][0]
	}
	switch {
	case c.name == "keep":
		r.keep, r.flags = true, append(r.flags, store)
	case c.name == "discard":
		r.discard = true
	case c.name == "stop" || c.name == "return":
		r.stop = true
	case c.name == "fileinto":
		r.flags = append(r.flags, store)
		r.file(one, tagged("copy"))
	case c.name == "redirect" && one != "" && !hasVariable(one):
		r.forward = append(r.forward, one)
		if !tagged("copy") {
			r.note("the forwarded message also stays in the mailbox")
		}
	case (c.name == "addflag" || c.name == "setflag" || c.name == "removeflag") && len(args) == 1:
		change := flagChange{run: r, how: c.name}
		if c.name == "removeflag" {
			change.flags = strings.Fields(strings.ToLower(strings.Join(args[0], " ")))
		} else {
			change.flags = r.known(args[0])
		}
		r.flags = append(r.flags, change)
	case hasVariable(one):
		r.lost = append(r.lost, c.name+" with variables")
	default:
		r.lost = append(r.lost, "the command "+c.name)
	}
}

// file files the message into a folder. If the folder cannot be translated, the message still counts as filed, so
// that it is not discarded.
func (r *execution) file(folder string, isCopy bool) {
	name, special := folderAction(folder)
	switch {
	case special == postroom.None:
		r.keep = true
		return
	case special == postroom.Trash && !isCopy:
		r.trash = true
		return
	case special == postroom.Trash:
		r.lost = append(r.lost, "a copy in the folder "+folder+": a message is in the trash or not")
		return
	}
	if isCopy {
		r.copies = true
	} else {
		r.filed = true
	}
	switch {
	case folder == "":
		r.lost = append(r.lost, "the command fileinto")
	case hasVariable(folder):
		r.lost = append(r.lost, "fileinto with variables")
	case isSpamFolder(name):
		r.lost = append(r.lost, "filing into the folder "+folder+": rules do not send mail to the spam")
	case isCopy:
		r.copied = append(r.copied, folder)
	default:
		r.labels = append(r.labels, folder)
	}
}

// markFlags are the flags of IMAP that rules know.
var markFlags = map[string]postroom.ActionType{`\seen`: postroom.MarkRead, `\flagged`: postroom.Star}

// known returns the flags that rules support; one string may have several.
func (r *execution) known(flags []string) []string {
	var known []string
	for flag := range strings.FieldsSeq(strings.Join(flags, " ")) {
		if _, ok := markFlags[strings.ToLower(flag)]; !ok {
			r.lost = append(r.lost, "the flag "+flag)
			continue
		}
		known = append(known, strings.ToLower(flag))
	}
	return known
}

// note records an inexact part of the run, once.
func (r *execution) note(what string) {
	if !slices.Contains(r.near, what) {
		r.near = append(r.near, what)
	}
}

// filing are the actions for the folders: it leaves the inbox for them, or is only marked.
func (r *execution) filing(folders []string, leaves bool) []rules.RuleAction {
	var list []rules.RuleAction
	for _, folder := range folders {
		name, special := folderAction(folder)
		switch {
		case special == postroom.Archive && leaves:
			list = append(list, rules.RuleAction{Type: postroom.Archive})
		case special == postroom.Archive:
		case leaves:
			list = append(list, translate.LabelAction(postroom.Move, name))
		default:
			list = append(list, translate.LabelAction(postroom.ApplyLabel, name))
		}
	}
	return list
}
