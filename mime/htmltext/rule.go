package htmltext

import "strings"

// rule stores a rule, and the rules within its block (CSS Nesting).
func (s *cssSheet) rule(prelude, content string, at ruleContext) {
	if strings.IndexByte(content, '{') < 0 {
		s.declarations(prelude, content, at)
		return
	}
	inner := at
	inner.depth++
	if inner.parent = s.parent(prelude, at); inner.parent >= 0 && inner.depth <= maxNesting {
		s.block(prelude, content, at, inner)
	}
}

// block reads declarations for a selector, and the rules between them.
func (s *cssSheet) block(prelude, content string, at, inner ruleContext) {
	begin, i := 0, 0
	for i < len(content) {
		rest := content[i:]
		end := itemEnd(rest)
		if end == len(rest) || rest[end] == ';' {
			i += min(end+1, len(rest))
			continue
		}
		nested := trimCSS(rest[:end])
		length := blockLength(rest[end:])
		s.declarations(prelude, content[begin:i], at)
		block := strings.TrimSuffix(rest[end+1:end+length], "}")
		i += end + length
		begin = i
		if !strings.HasPrefix(nested, "@") {
			s.rule(nested, block, inner)
		} else if within, ok := s.atRule(nested, inner); ok {
			s.block("&", block, within, within)
		}
	}
	s.declarations(prelude, content[begin:], at)
}

// itemEnd returns the offset of the end of a declaration or of the part before a block. The value of a variable may contain a
// block.
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

// declarations stores the declarations of a rule, unless they do not affect visibility, or one of its selectors is invalid.
func (s *cssSheet) declarations(prelude, content string, at ruleContext) {
	if s.room < 0 {
		return
	}
	before := s.mark()
	p := declParser{quirks: s.quirks, first: len(s.decls), out: s.decls, texts: s.texts, textRoom: s.room, keepsContent: true}
	p.parse(content)
	s.decls, s.texts = p.out, p.texts
	s.room = min(s.room, p.textRoom)
	s.overfull = s.overfull || p.textRoom < 0
	if len(s.decls) == before.decls {
		return
	}
	number := int32(len(s.rules))
	for text := range splitSelectors(prelude) {
		p := selectorParser{sheet: s, text: text, parsed: s.scratch[:0], parent: at.parent}
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
	if p.asksVariables {
		s.asks |= asksVariables
	}
	if p.asksLayerBelow {
		s.asks |= asksLayerBelow
	}
	s.rules = append(s.rules, cssRule{
		first: int32(before.decls), count: int32(len(s.decls) - before.decls), layer: at.layer, unsure: at.unsure || s.foreign,
	})
}

// A sheetMark is the amount of everything in a sheet.
type sheetMark struct{ decls, texts, selectors, simples, nths, nested, lists, relations, probes int }

func (s *cssSheet) mark() sheetMark {
	return sheetMark{
		len(s.decls), len(s.texts), len(s.selectors), len(s.simples), len(s.nths), len(s.nested), len(s.lists), len(s.relations),
		len(s.probes),
	}
}

// reset drops everything that was read since the mark.
func (s *cssSheet) reset(m sheetMark) {
	s.decls, s.texts, s.selectors, s.simples = s.decls[:m.decls], s.texts[:m.texts], s.selectors[:m.selectors], s.simples[:m.simples]
	s.nths, s.nested, s.lists = s.nths[:m.nths], s.nested[:m.nested], s.lists[:m.lists]
	s.relations, s.probes = s.relations[:m.relations], s.probes[:m.probes]
}
