package htmltext

import (
	"strconv"
	"strings"
)

// isEmptyPath reports whether a clip path hides all of a box: an inset of all its width or height, a circle or an ellipse without
// a radius, a rectangle or a polygon without an area.
func isEmptyPath(value string) bool {
	name, rest, isShape := strings.Cut(value, "(")
	if !isShape {
		return false
	}
	rest = rest[:bracketLength("("+rest)-1]
	args, _, _ := strings.Cut(strings.TrimSuffix(rest, ")"), " at ")
	args, _, _ = strings.Cut(args, " round ")
	switch trimCSS(name) {
	case "inset":
		sides := lengths(args, nil)
		switch len(sides) {
		case 1:
			return sides.empty(0, 0)
		case 2:
			return sides.empty(0, 0) || sides.empty(1, 1)
		case 3:
			return sides.empty(0, 2) || sides.empty(1, 1)
		case 4:
			return sides.empty(0, 2) || sides.empty(1, 3)
		}
	case "circle", "ellipse":
		for _, radius := range lengths(args, nil) {
			if radius.number == 0 && radius.word == 0 {
				return true
			}
		}
	case "xywh":
		sides := lengths(args, nil)
		return len(sides) == 4 && (sides[2].number == 0 || sides[3].number == 0)
	case "rect":
		sides := lengths(args, nil)
		return len(sides) == 4 && sides[0] == sides[2] && sides[0].word == 0 || len(sides) == 4 && sides[1] == sides[3] && sides[1].word == 0
	case "polygon":
		return isFlatPolygon(args)
	}
	return false
}

// isFullPath reports whether a clip path certainly leaves most of a box visible: none, an inset of nothing, or a polygon with
// points in all corners.
func isFullPath(value string) bool {
	name, args, isShape := strings.Cut(value, "(")
	if !isShape {
		return true // a word, as none
	}
	args, _, _ = strings.Cut(strings.TrimSuffix(args, ")"), " round ")
	switch name = trimCSS(name); name {
	case "inset":
		for _, side := range lengths(args, nil) {
			if side.word != 0 || side.number > .25 && side.unit == unitPercent || side.number > 8 && side.unit != unitPercent {
				return false
			}
		}
		return true
	case "circle", "ellipse":
		return trimCSS(args) == "" || trimCSS(args) == "50%"
	case "polygon":
		return holdsCorners(args)
	default:
		return false
	}
}

// holdsCorners reports whether all corners of a box are points of a polygon.
func holdsCorners(args string) bool {
	found := 0
	var at cssLengths
	for point := range strings.SplitSeq(args, ",") {
		if at = lengths(point, at[:0]); len(at) != 2 {
			continue
		}
		corner := 0
		for i, v := range at {
			switch {
			case v.word == 0 && v.unit == unitPercent && v.number == 1:
				corner |= 1 << i
			case v.word != 0 || v.number != 0:
				corner = -1 << 8
			}
		}
		if corner >= 0 {
			found |= 1 << corner
		}
	}
	return found == 1<<4-1
}

// isFlatPolygon reports whether all points of a polygon have the same position in one direction.
func isFlatPolygon(args string) bool {
	var first, at cssLengths
	flat := [2]bool{true, true}
	for point := range strings.SplitSeq(args, ",") {
		if at = lengths(point, at[:0]); len(at) != 2 {
			return false
		}
		if first == nil {
			first = append(first, at...)
		}
		for i := range at {
			same := at[i] == first[i] || at[i].number == 0 && first[i].number == 0
			flat[i] = flat[i] && same && at[i].word == 0
		}
	}
	return flat[0] || flat[1]
}

type cssLengths []cssValue

// lengths appends the blank-separated quantities; an invalid one is wordUnknown. There are four at most.
func lengths(text string, found cssLengths) cssLengths {
	p := declParser{quirks: true}
	for part := range cssParts(text) {
		v, ok := p.length(part, false)
		if !ok {
			v = cssValue{word: wordUnknown}
		}
		if found = append(found, v); len(found) == 4 {
			break
		}
	}
	return found
}

// empty reports whether two insets leave nothing between them.
func (l cssLengths) empty(i, j int) bool {
	return l[i].word == 0 && l[j].word == 0 && l[i].unit == unitPercent && l[j].unit == unitPercent && l[i].number+l[j].number >= 1 ||
		l[i].word == 0 && l[i].unit == unitPercent && l[i].number >= 1 || l[j].word == 0 && l[j].unit == unitPercent && l[j].number >= 1
}

// zoomValue reads a factor; none makes no difference.
func zoomValue(value string) (cssValue, bool) {
	if value == "normal" || value == "reset" {
		return cssValue{number: 1}, true
	}
	v, ok := quantity(value)
	if v.number == 0 {
		v.number = 1
	}
	return cssValue{number: v.number}, ok && v.number > 0 && (v.unit == unitNumber || v.unit == unitPercent)
}

// shapeWord returns wordHidden for a shape that hides everything.
func shapeWord(prop cssProp, value string) cssWord {
	hides := false
	switch prop {
	case propClip: // only the part between the edges is shown
		if isEmptyRect(strings.ReplaceAll(value, " ", "")) {
			return wordAbsolute // it needs a position
		}
	case propClipPath:
		if hides = isEmptyPath(value); !hides && !isFullPath(value) {
			return wordDoubt
		}
	case propContent: // replaces the content of the element
		hides = imageWord(value) == wordUnknown
	case propFilter:
		return filterWord(value)
	}
	if hides {
		return wordHidden
	}
	return wordNone
}

// isEmptyRect reports whether rect(top, right, bottom, left) is at most a pixel wide or high.
func isEmptyRect(value string) bool {
	inner, ok := strings.CutPrefix(value, "rect(")
	if !ok {
		return false
	}
	var edges [4]float64
	fields := strings.FieldsFunc(strings.TrimSuffix(inner, ")"), func(r rune) bool { return r == ',' })
	if len(fields) == 1 { // blanks separated them, and no edge is far if all begin with 0 or 1
		return strings.Trim(inner, "01px)") == ""
	}
	if len(fields) != len(edges) {
		return false
	}
	for i, field := range fields {
		v, err := strconv.ParseFloat(strings.TrimRight(field, "ceimnptx"), 64)
		if err != nil {
			return false
		}
		edges[i] = v
	}
	return edges[1]-edges[3] <= 1 || edges[2]-edges[0] <= 1
}
