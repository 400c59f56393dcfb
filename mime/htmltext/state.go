package htmltext

import "strings"

// state reports whether the attributes of an element satisfy a pseudo-class.
func (m *matcher) state(state byte, element *identity, ancestors []node) truth {
	switch state {
	case stateLeftToRight, stateRightToLeft:
		return m.reads(state, element, ancestors)
	case stateDefined:
		return truthOf(element.tag != 0 || strings.IndexByte(element.name, '-') < 0)
	case stateOpen:
		return truthOf((element.tag == tagDetails || element.tag == tagDialog) && m.has(element, "open"))
	case stateChecked:
		return m.isChecked(element)
	case stateDisabled, stateEnabled:
		if !isControl(element.tag) && element.tag != tagOption && element.tag != tagOptgroup {
			return truthOf(element.tag == tagFieldset && m.has(element, "disabled") == (state == stateDisabled))
		}
		if slicesHasTag(ancestors, tagFieldset) || element.tag == tagOption {
			return unsure
		}
		return truthOf(m.has(element, "disabled") == (state == stateDisabled))
	case stateRequired, stateOptional:
		isField := isControl(element.tag) && element.tag != tagButton
		return truthOf(isField && m.has(element, "required") == (state == stateRequired))
	case statePlaceholder:
		return m.showsPlaceholder(element)
	default:
		return m.isWritten(element, state == stateReadWrite)
	}
}

func isControl(tag tagName) bool {
	return tag == tagInput || tag == tagTextarea || tag == tagSelect || tag == tagButton
}

func slicesHasTag(nodes []node, tag tagName) bool {
	for i := range nodes {
		if nodes[i].self.tag == tag {
			return true
		}
	}
	return false
}

func (m *matcher) isChecked(element *identity) truth {
	switch element.tag {
	case tagInput:
		switch kind, _ := element.attribute("type"); lowerASCII(kind) {
		case "checkbox":
			return truthOf(m.has(element, "checked"))
		case "radio": // in a group, the last one is checked
			if m.has(element, "name") && m.has(element, "checked") {
				return unsure
			}
			return truthOf(m.has(element, "checked"))
		}
		return no
	case tagOption:
		return unsure
	default:
		return no
	}
}

func (m *matcher) showsPlaceholder(element *identity) truth {
	switch {
	case !m.has(element, "placeholder") || element.tag != tagInput && element.tag != tagTextarea:
		return no
	case element.tag == tagTextarea:
		return unsure
	default:
		value, _ := element.attribute("value")
		return truthOf(value == "")
	}
}

// isWritten reports whether a person can write in an element or, unless wanted, cannot.
func (m *matcher) isWritten(element *identity, wanted bool) truth {
	if m.has(element, "contenteditable") {
		return unsure
	}
	isField := element.tag == tagTextarea
	if element.tag == tagInput {
		switch kind, _ := element.attribute("type"); lowerASCII(kind) {
		case "hidden", "checkbox", "radio", "image", "file", "range", "color", "submit", "reset", "button":
		default:
			isField = true
		}
	}
	isField = isField && !m.has(element, "readonly") && !m.has(element, "disabled")
	return truthOf(isField == wanted)
}

// reads reports whether the text of an element runs in the given direction.
func (m *matcher) reads(state byte, element *identity, ancestors []node) truth {
	for at := len(ancestors); ; at-- {
		m.budget -= 1 + len(element.attrs)>>3
		switch dir, _ := element.attribute("dir"); lowerASCII(trimCSS(dir)) {
		case "ltr":
			return truthOf(state == stateLeftToRight)
		case "rtl":
			return truthOf(state == stateRightToLeft)
		case "auto":
			return unsure
		}
		if at == 0 || m.budget < 0 {
			return truthOf(state == stateLeftToRight)
		}
		element = &ancestors[at-1].self
	}
}

// speaks reports whether the language of an element matches :lang.
func (m *matcher) speaks(wanted string, element *identity, ancestors []node) truth {
	if strings.ContainsAny(wanted, ",*") {
		return unsure
	}
	for at := len(ancestors); m.budget >= 0; at-- {
		m.budget -= 1 + len(element.attrs)>>3
		lang, ok := element.attribute("lang")
		if ok {
			lang = lowerASCII(lang)
			return truthOf(wanted != "" && (lang == wanted || strings.HasPrefix(lang, wanted+"-")))
		}
		if at == 0 {
			break
		}
		element = &ancestors[at-1].self
	}
	return no
}
