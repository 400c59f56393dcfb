package rulesfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/suggest"
)

// A snippet is a text that rules name in place of a body: parameters: {snippet: thanks}. The rule that is read has the
// text itself, so that a rule changes, and has another version, when its snippet does.

const (
	paramSnippet = "snippet"
	paramBody    = "body"
)

// snippets reads the texts, by their names.
func (p *fileParser) snippets(n ast.Node) {
	m := p.mapping(n, "snippets", nil)
	if m == nil {
		return
	}
	p.file.Snippets = make(map[string]string, len(m.keys))
	for _, name := range m.keys {
		text, ok := p.text(m.values[name], "snippet "+name)
		err := postroom.CheckVariables(text, postroom.VarUntil)
		switch {
		case ok && strings.TrimSpace(text) == "":
			p.problem(positionOf(m.values[name]), fmt.Sprintf("snippet %q is empty", name), "write the text below it")
		case err != nil:
			p.problem(positionOf(m.values[name]), fmt.Sprintf("snippet %q: %v", name, err), "")
		}
		p.file.Snippets[name] = text
	}
}

// useSnippet replaces the name of a snippet in the parameters of an action by its text.
func (p *fileParser) useSnippet(n ast.Node, parameters postroom.Parameters) {
	name, given := parameters.Text(paramSnippet)
	if !given {
		return
	}
	text, known := p.file.Snippets[name]
	_, twice := parameters[paramBody]
	filled := postroom.FillSome(text, map[postroom.Variable]string{postroom.VarUntil: "until"})
	switch {
	case !known && len(p.file.Snippets) == 0:
		p.problem(positionOf(n), fmt.Sprintf("there is no snippet %q", name),
			"write it under snippets: at the top of the file, as "+name+": and the text")
	case !known:
		p.problem(positionOf(n), fmt.Sprintf("there is no snippet %q", name),
			suggest.Instead(name, slices.Sorted(maps.Keys(p.file.Snippets)), "the snippets of the file are"))
	case twice:
		p.problem(positionOf(n), "the action has both a body and a snippet", "write one of the two")
	case filled != text:
		p.problem(positionOf(n), fmt.Sprintf("snippet %q has {{%s}}, which only the answer of an absence knows", name,
			postroom.VarUntil), "name another snippet")
	}
	delete(parameters, paramSnippet)
	parameters[paramBody] = filled
}

// snippetsTree returns the texts in the order of their names.
func snippetsTree(snippets map[string]string) *docNode {
	n := &docNode{kind: docMapping}
	for _, name := range slices.Sorted(maps.Keys(snippets)) {
		n.addText(name, snippets[name])
	}
	return n
}
