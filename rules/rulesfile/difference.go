package rulesfile

import (
	"fmt"
	"github.com/postroom-go/postroom/rules"
	"slices"
	"strings"
)

// A Difference is a rule that two lists of rules do not have alike.
type Difference struct {
	Name string // in the second list, if it is there
	// Before and After are the rule in the form of a file, and empty if it is missing. They also have what files lack:
	// why a rule is disabled.
	Before, After string
}

// Kind is what has become of the rule: "added", "removed" or "changed".
func (d *Difference) Kind() string {
	switch {
	case d.Before == "":
		return "added"
	case d.After == "":
		return "removed"
	}
	return "changed"
}

// Differences returns the differences between two lists of rules, such as those of two versions: first the rules that
// are gone or changed, in the order of the first list, then the new ones, in the order of the second. Rules
// correspond by id, or else by name.
func Differences(before, after []rules.Rule) []Difference {
	var list []Difference
	taken := make([]bool, len(after))
	ids, names := map[string]int{}, map[string]int{}
	for i := range after {
		ids[after[i].ID], names[after[i].Name] = i, i
	}
	for i := range before {
		old := &before[i]
		j, found := ids[old.ID]
		if !found || old.ID == "" {
			j, found = names[old.Name]
		}
		if !found || taken[j] {
			list = append(list, Difference{Name: old.Name, Before: shown(old)})
			continue
		}
		taken[j] = true
		if was, is := shown(old), shown(&after[j]); was != is {
			list = append(list, Difference{after[j].Name, was, is})
		}
	}
	for i := range after {
		if !taken[i] {
			list = append(list, Difference{Name: after[i].Name, After: shown(&after[i])})
		}
	}
	return list
}

// TestDifferences is [Differences] for the tests of files, which correspond by name.
func TestDifferences(before, after []Test) []Difference {
	var list []Difference
	texts := make(map[string]string, len(after))
	for i := range after {
		texts[after[i].Name] = shownTest(&after[i])
	}
	was := make(map[string]bool, len(before))
	for i := range before {
		name := before[i].Name
		was[name] = true
		if old, is := shownTest(&before[i]), texts[name]; old != is {
			list = append(list, Difference{name, old, is})
		}
	}
	for i := range after {
		if name := after[i].Name; !was[name] {
			list = append(list, Difference{Name: name, After: texts[name]})
		}
	}
	return list
}

// shownTest is the test as a file says it.
func shownTest(t *Test) string {
	list := &docNode{kind: docList}
	list.add("", testTree(t))
	root := &docNode{kind: docMapping}
	root.add("tests", list)
	root.arrange(&fileShape)
	return strings.TrimPrefix(string(root.format(nil)), "tests:\n")
}

// shown is the rule as a file says it, and why it is disabled.
func shown(r *rules.Rule) string {
	list := &docNode{kind: docList}
	list.add("", ruleTree(r))
	root := &docNode{kind: docMapping}
	root.add("rules", list)
	root.arrange(&fileShape)
	text := strings.TrimPrefix(string(root.format(nil)), "rules:\n")
	if r.DisabledReason != "" {
		text += "    # disabled: " + strings.Map(visible, r.DisabledReason) + "\n"
	}
	if r.Damage != nil {
		text += "    # damaged: " + strings.Map(visible, r.Damage.Error()) + "\n"
	}
	return text
}

// String formats the difference by lines: those that are gone begin with a minus, those that are new with a plus.
func (d *Difference) String() string {
	var b strings.Builder
	was, is := linesOf(d.Before), linesOf(d.After)
	for _, edit := range lineEdits(was, is) {
		fmt.Fprintf(&b, "%c %s\n", edit.sign, edit.line)
	}
	return b.String()
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

type lineEdit struct {
	sign byte // ' ', '-' or '+'
	line string
}

// maxLineTable bounds the table of lineEdits. Beyond it, the part between equal ends is shown as a whole.
const maxLineTable = 1 << 22

// lineEdits turns one list of lines into the other, keeping their longest common subsequence.
func lineEdits(was, is []string) []lineEdit {
	var head, tail []lineEdit
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		head, was, is = append(head, lineEdit{' ', was[0]}), was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		tail = append(tail, lineEdit{' ', was[len(was)-1]})
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	slices.Reverse(tail)
	return slices.Concat(head, middleEdits(was, is), tail)
}

func middleEdits(was, is []string) []lineEdit {
	var list []lineEdit
	i, j := 0, 0
	if len(was)*len(is) <= maxLineTable {
		common := commonLines(was, is)
		for i < len(was) && j < len(is) {
			switch {
			case was[i] == is[j]:
				list = append(list, lineEdit{' ', was[i]})
				i, j = i+1, j+1
			case common[i+1][j] >= common[i][j+1]:
				list = append(list, lineEdit{'-', was[i]})
				i++
			default:
				list = append(list, lineEdit{'+', is[j]})
				j++
			}
		}
	}
	for ; i < len(was); i++ {
		list = append(list, lineEdit{'-', was[i]})
	}
	for ; j < len(is); j++ {
		list = append(list, lineEdit{'+', is[j]})
	}
	return list
}

// commonLines is how many lines was[i:] and is[j:] have in common, by i and j.
func commonLines(was, is []string) [][]int32 {
	table := make([][]int32, len(was)+1)
	for i := range table {
		table[i] = make([]int32, len(is)+1)
	}
	for i, old := range slices.Backward(was) {
		for j, line := range slices.Backward(is) {
			if table[i][j] = max(table[i+1][j], table[i][j+1]); old == line {
				table[i][j] = table[i+1][j+1] + 1
			}
		}
	}
	return table
}
