package htmltext

import "strings"

// rule stores a rule. It is not computed which elements the rules within its block apply to: any that their own
// selectors match may be.
func (s *cssSheet) rule(prelude, content string, at ruleContext) {
	begin, i := 0, 0
	for last := strings.LastIndexByte(content, '{'); i <= last; {
		end := i + itemEnd(content[i:])
		if end == len(content) || content[end] == ';' {
			i = end + 1
			continue
		}
		s.declarations(prelude, content[begin:i], at)
		length := blockLength(content[end:])
		s.nestedRule(prelude, trimCSS(content[i:end]), strings.TrimSuffix(content[end+1:end+length], "}"), at)
		i = end + length
		begin = i
	}
	s.declarations(prelude, content[begin:], at)
}

// nestedRule reads a rule, or an at-rule, within the block of a rule.
func (s *cssSheet) nestedRule(around, prelude, content string, at ruleContext) {
	at.unsure = true
	if at.depth++; at.depth > maxNesting {
		s.overfull = true
		return
	}
	switch {
	case strings.HasPrefix(prelude, "@"):
		if within, ok := s.atRule(prelude, at); ok {
			s.rule(around, content, within)
		}
	case prelude == "" || strings.IndexByte(prelude, '&') >= 0 || strings.IndexByte(">+~", prelude[0]) >= 0:
		s.rule("*", content, at)
	default:
		s.rule(prelude, content, at)
	}
}

// itemEnd returns the offset of the end of a declaration or of the part before a block. The value of a variable may
// contain a block.
func itemEnd(text string) int {
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n\f"), "--") {
		return declarationEnd(text)
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ';', '{':
			return i
		case '(':
			i += bracketLength(text[i:]) - 1
		case '\\':
			i++
		case '"', '\'':
			i += quotedLength(text[i:]) - 1
		}
	}
	return len(text)
}

// declarations stores the declarations of a rule, unless they do not affect visibility, or one of its selectors is
// invalid.
func (s *cssSheet) declarations(prelude, content string, at ruleContext) {
	if s.room < 0 {
		return
	}
	before := s.mark()
	p := declParser{quirks: s.quirks, first: len(s.decls), out: s.decls}
	p.parse(content)
	s.quirky = s.quirky || p.quirky
	if s.decls = p.out; len(s.decls) == before.decls {
		return
	}
	number := int32(len(s.rules))
	for text := range splitSelectors(prelude) {
		p := selectorParser{sheet: s, text: text, parsed: s.scratch[:0]}
		fault := p.parse()
		s.scratch = p.parsed
		switch fault {
		case selectorGood:
			p.selector.rule = number
			s.keep(&p, &s.selectors)
		case selectorTooLong:
			s.overfull = true
		case selectorInvalid:
			s.reset(before)
			return
		}
	}
	if len(s.selectors) == before.selectors {
		s.reset(before)
		return
	}
	s.rules = append(s.rules, cssRule{
		first: int32(before.decls), count: int32(len(s.decls) - before.decls), unsure: at.unsure || s.foreign,
	})
}

// A sheetMark is the amount of everything in a sheet.
type sheetMark struct{ decls, selectors, simples, probes, nested, lists int }

func (s *cssSheet) mark() sheetMark {
	return sheetMark{len(s.decls), len(s.selectors), len(s.simples), len(s.probes), len(s.nested), len(s.lists)}
}

// reset drops everything that was read since the mark.
func (s *cssSheet) reset(m sheetMark) {
	s.decls, s.selectors, s.simples = s.decls[:m.decls], s.selectors[:m.selectors], s.simples[:m.simples]
	s.probes, s.nested, s.lists = s.probes[:m.probes], s.nested[:m.nested], s.lists[:m.lists]
}
