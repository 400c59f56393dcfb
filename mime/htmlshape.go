package mime

import (
	"math"
	"strconv"
	"strings"
)

// isEmptyPath reports whether a clip path leaves nothing of a box: an inset of all its width or height, a circle or an ellipse without
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

// isFlatPolygon reports whether all points of a polygon have the same place in one direction.
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

// lengths appends quantities set apart by blanks; what is none is wordUnknown. There are four at most.
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

// transformValue returns wordHidden for a transformation after which nothing is seen.
func transformValue(prop cssProp, value string) cssValue {
	hides := false
	switch prop {
	case propScale:
		hides = isFlatScale(strings.ReplaceAll(value, " ", ","))
	case propTranslate:
		hides = isFarTranslation("translate", strings.Join(strings.Fields(value), ","))
	case propRotate:
		if axis, angle, ok := strings.Cut(value, " "); ok && (axis == "x" || axis == "y") {
			hides = isEdgeOn(angle)
		}
	default:
		for rest := value; rest != "" && !hides; {
			name, args, found := strings.Cut(rest, "(")
			if !found {
				break
			}
			args, rest, _ = strings.Cut(args, ")")
			hides = hidesBy(trimCSS(name), strings.ReplaceAll(args, " ", ""))
		}
	}
	if hides {
		return cssValue{word: wordHidden}
	}
	return cssValue{word: wordNone}
}

// hidesBy reports whether a function of a transformation leaves nothing to see.
func hidesBy(name, args string) bool {
	switch name {
	case "scale", "scalex", "scaley", "scale3d":
		return isFlatScale(args)
	case "rotatex", "rotatey":
		return isEdgeOn(args)
	case "translate", "translatex", "translatey", "translate3d":
		return isFarTranslation(name, args)
	case "matrix":
		var m [6]float64
		fields := strings.Split(args, ",")
		if len(fields) != len(m) {
			return false
		}
		for i, field := range fields {
			v, ok := quantity(field)
			if !ok {
				return false
			}
			m[i] = float64(v.number)
		}
		return math.Abs(m[0]*m[3]-m[1]*m[2]) < minScale*minScale || isAway(float32(m[4])) || isAway(float32(m[5]))
	default:
		return false
	}
}

// minScale is the scale below which a text of the usual size is taken for hidden.
const minScale = .05

// isFlatScale reports whether one of the factors for width and height leaves next to nothing.
func isFlatScale(args string) bool {
	i := 0
	for arg := range strings.SplitSeq(args, ",") {
		v, ok := quantity(arg)
		if ok && i < 2 && float32(math.Abs(float64(v.number))) < minScale {
			return true
		}
		i++
	}
	return false
}

func isFarTranslation(name, args string) bool {
	i := 0
	for arg := range strings.SplitSeq(args, ",") {
		v, ok := quantity(arg)
		if whole := float32(windowWidth); ok && i < 2 {
			if v.unit == unitPercent { // of a box whose size is not known; twice that is beyond the window
				whole = farAway / 2
			}
			if name == "translatey" && v.unit == unitPercent {
				whole = 0
			}
			at := v.inPixels(defaultFontSize, whole)
			if at <= -farAway || v.unit != unitPercent && at >= farRight {
				return true
			}
		}
		i++
	}
	return false
}

func isAway(pixels float32) bool { return pixels <= -farAway || pixels >= farRight }

// isEdgeOn reports whether an angle turns what is seen to its edge.
func isEdgeOn(angle string) bool {
	for _, unit := range []struct {
		name    string
		degrees float64
	}{{"deg", 1}, {"grad", .9}, {"rad", 180 / math.Pi}, {"turn", 360}} {
		if number, ok := strings.CutSuffix(angle, unit.name); ok {
			v, ok := quantity(number)
			return ok && math.Abs(math.Abs(math.Mod(float64(v.number)*unit.degrees, 180))-90) < .5
		}
	}
	return false
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

// shapeWord returns wordHidden for a shape that leaves nothing to see.
func shapeWord(prop cssProp, value string) cssWord {
	hides := false
	switch prop {
	case propClip: // only what lies between the edges is shown
		if isEmptyRect(strings.ReplaceAll(value, " ", "")) {
			return wordAbsolute // it needs a position
		}
	case propClipPath:
		hides = isEmptyPath(value)
	case propContent: // takes the place of what the element holds
		hides = imageWord(value) == wordUnknown
	case propFilter:
		_, amount, found := strings.Cut(value, "opacity(")
		amount, _, _ = strings.Cut(amount, ")")
		n, ok := parseChannel(trimCSS(amount), 1)
		hides = found && ok && n < minOpacity
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
	if len(fields) == 1 { // blanks stood between them, and no edge is far where all begin with 0 or 1
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
