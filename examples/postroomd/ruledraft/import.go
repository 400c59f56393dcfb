package ruledraft

import (
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/gmailfilter"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/sieve"
)

// maxFilters is far beyond the 1,000 filters that an account may have.
const maxFilters = 5000

// Translate makes rules of other filters: of Gmail's as its settings export them, which are XML, or as its API lists
// them, which is JSON, and otherwise of a Sieve script. owner is the address that Gmail's filters call "me". What
// cannot be read is a [usage.Error].
func Translate(text, owner string, kinds *postroom.Kinds) (*rulesfile.Translation, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	switch begin := strings.TrimSpace(text); {
	case begin == "":
		return nil, usage.Errorf("There is nothing to import: choose a file, or paste its text.")
	case begin[0] == '<' || begin[0] == '{':
		filters, err := gmailfilter.Read(strings.NewReader(text), nil)
		if err != nil {
			return nil, usage.Wrap(err)
		}
		if len(filters) > maxFilters {
			return nil, usage.Errorf("There are %d filters, more than Gmail keeps: at most %d are imported at once.",
				len(filters), maxFilters)
		}
		return gmailfilter.Import(filters, &gmailfilter.ImportOptions{Kinds: kinds, Owner: owner}), nil
	}
	t, err := sieve.Import(text, kinds)
	if err != nil {
		return nil, usage.Wrap(err)
	}
	return t, nil
}

// An Import is what was taken of other filters.
type Import struct {
	File *rulesfile.File // with the rules of before, and their comments
	// Taken names the rules that are added, at the end of the others. Known names those that are left out since the file
	// has them already.
	Taken, Known []string
}

// AddTranslation adds translated rules to a file. A rule whose name another has gets a name of its own.
func AddTranslation(file *rulesfile.File, t *rulesfile.Translation, options ...rulesfile.ParseOption) (Import, error) {
	added := Import{File: file}
	change := rulesfile.Revision{Labels: t.File.Labels}
	names, known := namesOf(file.Rules), map[string]bool{}
	for _, r := range file.Rules {
		known[sense(r)] = true
	}
	for _, r := range t.File.Rules {
		if known[sense(r)] {
			added.Known = append(added.Known, r.Name)
			continue
		}
		r.Name = names.take(r.Name)
		added.Taken = append(added.Taken, r.Name)
		change.Rules = append(change.Rules, r)
	}
	if len(added.Taken) == 0 {
		return added, nil
	}
	revised, err := file.Revise(change, options...)
	if err != nil {
		return added, usage.Wrap(err)
	}
	added.File = revised
	return added, nil
}

// sense is what a rule does, and with which mail, whatever its name and place are.
func sense(r rules.Rule) string {
	of := rules.NewRule("x", r.Condition, r.Action, r.Parameters)
	of.Also, of.Continue, of.Enabled = r.Also, r.Continue, r.Enabled
	return string(rulesfile.Marshal(&rulesfile.File{Rules: []rules.Rule{of}}))
}
