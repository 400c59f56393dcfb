package safehtml

import (
	"slices"
	"strings"
)

// A kind of element says how it nests.
type kind int

const (
	plain   kind = iota // stands where it is
	block               // closes the paragraph that it begins in
	format              // goes on behind the end of what it is in
	ofTable             // stands within a table only
	empty               // has no end
)

// elements are those that are kept.
var elements = kinds(map[kind]string{
	plain: "abbr acronym bdi cite del dfn ins kbd mark q samp span sub sup time var",
	block: "address article aside blockquote center dd dir div dl dt fieldset figcaption figure footer h1 h2 h3 h4 h5 " +
		"h6 header li main menu nav ol p pre section table ul",
	format:  "a b big code em font i s small strike strong tt u",
	ofTable: "caption colgroup tbody td tfoot th thead tr",
	empty:   "br col hr img wbr",
})

func kinds(names map[kind]string) map[string]kind {
	all := map[string]kind{}
	for kind, list := range names {
		for name := range strings.FieldsSeq(list) {
			all[name] = kind
		}
	}
	return all
}

// rawText are elements whose content is no HTML, and is not shown.
var rawText = map[string]bool{"script": true, "style": true, "title": true, "textarea": true, "iframe": true,
	"noembed": true, "noframes": true, "xmp": true}

// inForeign are elements that SVG has as well: they do not end it.
var inForeign = map[string]bool{"a": true, "font": true}

// An implication closes the innermost of the elements that end where another begins, unless it stands outside of those
// that it is sought within.
type implication struct{ ends, within []string }

var (
	cells         = []string{"caption", "table", "td", "th"}
	endsParagraph = implication{[]string{"p"}, cells}
	endsItem      = implication{[]string{"li"}, slices.Concat(cells, []string{"blockquote", "dir", "menu", "ol", "ul"})}
	endsTerm      = implication{[]string{"dd", "dt"}, slices.Concat(cells, []string{"blockquote", "dl"})}
	endsLink      = implication{[]string{"a"}, cells}
	endsCell      = implication{[]string{"td", "th"}, []string{"table", "tr"}}
	endsRow       = implication{[]string{"caption", "colgroup", "tr"}, []string{"table"}}
	endsRows      = implication{[]string{"caption", "colgroup", "tbody", "tfoot", "thead", "tr"}, []string{"table"}}
	endsCaption   = implication{[]string{"caption", "colgroup"}, []string{"table"}}
)

// implied are the ends that the beginning of an element implies.
var implied = map[string][]implication{
	"a": {endsLink}, "li": {endsItem}, "dd": {endsTerm}, "dt": {endsTerm}, "td": {endsCell}, "th": {endsCell},
	"tr": {endsRow}, "tbody": {endsRows}, "tfoot": {endsRows}, "thead": {endsRows},
	"caption": {endsCaption}, "colgroup": {endsCaption},
}
