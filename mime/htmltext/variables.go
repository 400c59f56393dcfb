package htmltext

import "strings"

// A variableFrame holds the variables that one rule or a style attribute sets for an element and its content (CSS Custom
// Properties). Later frames win over those that they point to.
type variableFrame struct {
	decls     []cssDecl
	texts     []string
	important bool
	next      int32 // 1 + the place of the frame below; 0 for none
	of        int32 // the same for the last frame of the element, whose variables the values may contain
}

const (
	maxVariableDepth  = 16   // of variables within variables; deeper ones are cycles
	maxVariableLength = 4096 // of a value
	variableTexts     = 256  // that a style attribute may hold
)

// hasVariable reports whether a lower-case value depends on variables, or on those that a browser sets.
func hasVariable(value string) bool {
	return strings.IndexByte(value, '(') > 0 && (strings.Contains(value, "var(") || strings.Contains(value, "env("))
}

// setVariables sets the variables of an element and its content.
func (r *reader) setVariables(around int32, matched []cssMatch) {
	first := len(r.frames)
	r.vars = around
	for _, important := range []bool{false, true} {
		for _, match := range matched {
			rule := &r.sheet.rules[r.sheet.selectors[match.selector].rule]
			if !match.unsure && !rule.unsure {
				r.addFrame(r.sheet.decls[rule.first:rule.first+rule.count], r.sheet.texts, important)
			}
		}
		r.addFrame(r.inline, r.inlineTexts, important)
	}
	if r.areFrames(around, first) {
		r.frames, r.vars = r.frames[:first], around
	}
	for i := first; i < len(r.frames); i++ {
		r.frames[i].of = r.vars
	}
}

// addFrame adds a frame, if there are variables among the declarations.
func (r *reader) addFrame(decls []cssDecl, texts []string, important bool) {
	r.matcher.budget -= len(decls)
	for i := range decls {
		if decls[i].prop != propVariable || decls[i].important != important {
			continue
		}
		if len(r.frames) >= 256+len(r.scanner.source)/256 {
			r.sheet.overfull = true
			return
		}
		if len(texts) > 0 && len(r.inlineTexts) > 0 && &texts[0] == &r.inlineTexts[0] { // these are reused for the next element
			texts, decls = append([]string(nil), texts...), append([]cssDecl(nil), decls...)
			if r.sheet.room -= len(texts) + len(decls); r.sheet.room < 0 {
				r.sheet.overfull = true
				return
			}
		}
		r.frames = append(r.frames, variableFrame{decls: decls, texts: texts, important: important, next: r.vars})
		r.vars = int32(len(r.frames))
		return
	}
}

// areFrames reports whether the frames from first on are the inherited ones, as for a rule about all elements.
func (r *reader) areFrames(around int32, first int) bool {
	for i := len(r.frames) - 1; i >= first; i-- {
		if around == 0 {
			return false
		}
		a, b := &r.frames[i], &r.frames[around-1]
		if &a.decls[0] != &b.decls[0] || a.important != b.important {
			return false
		}
		around = b.next
	}
	return true
}

// variable returns the value of a variable, which may contain others.
func (r *reader) variable(name string, frame int32) (value string, of int32, ok bool) {
	for ; frame > 0 && r.matcher.budget >= 0; frame = r.frames[frame-1].next {
		f := &r.frames[frame-1]
		r.matcher.budget -= 1 + len(f.decls)
		for i := len(f.decls) - 1; i >= 0; i-- {
			d := &f.decls[i]
			if d.prop != propVariable || d.important != f.important || f.texts[d.text-1] != name {
				continue
			}
			value = f.texts[d.text]
			switch word := lowerCSS(value); globalWords[word] {
			case 0:
				return value, f.of, true
			case wordInitial:
				return "", 0, false
			}
			break // as around it
		}
	}
	return "", 0, false
}

// substitute substitutes variables in a value. It reports whether the result is valid.
func (r *reader) substitute(value string, frame int32, depth int) (string, bool) {
	var out strings.Builder
	for {
		at, function := nextFunction(value)
		if at < 0 && out.Len() == 0 {
			return value, true
		}
		if at < 0 {
			out.WriteString(value)
			return out.String(), true
		}
		out.WriteString(value[:at])
		open := at + len("var")
		length := bracketLength(value[open:])
		args := strings.TrimSuffix(value[open+1:open+length], ")")
		value = value[open+length:]
		name, fallback, hasFallback := strings.Cut(args, ",")
		found, ok := r.replacement(function, trimCSS(name), frame, depth)
		if !ok && hasFallback && depth < maxVariableDepth {
			found, ok = r.substitute(fallback, frame, depth+1)
		}
		const costOfByte = 8 // of a value that is put together
		if r.matcher.budget -= 1 + costOfByte*len(found); !ok || out.Len()+len(found) > maxVariableLength || r.matcher.budget < 0 {
			return "", false
		}
		if value == "" && out.Len() == 0 {
			return found, true
		}
		out.WriteString(found)
	}
}

// nextFunction finds the next var( or env( that is not the end of another name.
func nextFunction(value string) (at int, function string) {
	for i := 0; i+4 <= len(value); i++ {
		if value[i+3] != '(' || i > 0 && (isLetter(value[i-1]) || isDigit(value[i-1]) || value[i-1] == '-' || value[i-1] == '_') {
			continue
		}
		if f := value[i : i+3]; strings.EqualFold(f, "var") || strings.EqualFold(f, "env") {
			return i, lowerASCII(f)
		}
	}
	return -1, ""
}

func (r *reader) replacement(function, name string, frame int32, depth int) (string, bool) {
	if function == "env" {
		return "0px", strings.HasPrefix(name, "safe-area-inset-")
	}
	value, of, ok := r.variable(unescapeCSS(name), frame)
	if !ok || depth == maxVariableDepth {
		return "", false
	}
	return r.substitute(value, of, depth+1)
}

// addWithVariables adds a declaration whose value contains variables. If the result is invalid, the property is unset.
func (r *reader) addWithVariables(d *cssDecl, texts []string) {
	p := declParser{quirks: r.quirks, important: d.important, out: r.replaced[:0]}
	value, ok := r.substitute(texts[d.text-1], r.vars, 0)
	if value = lowerCSS(trimCSS(value)); ok && value != "" {
		p.property(d.prop, value)
	}
	if len(p.out) == 0 {
		p.global(d.prop, cssValue{word: wordUnset})
	}
	r.replaced = p.out
	r.addDeclarations(p.out, nil, d.important)
}
