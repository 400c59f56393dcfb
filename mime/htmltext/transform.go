package htmltext

import (
	"math"
	"strings"
)

// A cssMove is the effect of a transformation on a box.
type cssMove struct {
	x, y, scale float32 // the last is the least factor of all directions
	// word is wordHidden for a box on its edge, wordBehind for one whose back is visible, wordUnknown for a rotated one, and
	// wordDoubt if the effect is unknown.
	word cssWord
}

// value packs a move into a value: the color holds the distances.
func (m cssMove) value() cssValue {
	x, y := toInt16(m.x), toInt16(m.y)
	return cssValue{number: m.scale, color: rgba{uint8(x >> 8), uint8(x), uint8(y >> 8), uint8(y)}, word: m.word}
}

// moveOf unpacks a move.
func moveOf(v cssValue) cssMove {
	x, y := uint16(v.color.r)<<8|uint16(v.color.g), uint16(v.color.b)<<8|uint16(v.color.a)
	return cssMove{x: float32(int16(x)), y: float32(int16(y)), scale: v.number, word: v.word}
}

func toInt16(v float32) uint16 {
	return uint16(int16(max(math.MinInt16, min(float64(v), math.MaxInt16))))
}

// transformValue reads a transformation.
func transformValue(prop cssProp, value string) cssValue {
	m := cssMove{scale: 1}
	if value == "none" {
		return m.value()
	}
	switch prop {
	case propScale:
		m.apply("scale", strings.Join(strings.Fields(value), ","))
	case propTranslate:
		m.apply("translate", strings.Join(strings.Fields(value), ","))
	case propRotate:
		axis, angle, ok := strings.Cut(value, " ")
		if !ok {
			axis, angle = "", value
		}
		m.apply("rotate"+axis, trimCSS(angle))
	default:
		for rest := value; rest != ""; {
			var name, args string
			if name, args, rest = cutFunction(rest); name == "" {
				break
			}
			m.apply(name, strings.ReplaceAll(args, " ", ""))
		}
	}
	return m.value()
}

// apply adds a function of a transformation.
func (m *cssMove) apply(name, args string) {
	ok := true
	switch name {
	case "scale", "scalex", "scaley", "scale3d":
		ok = m.shrink(name, args)
	case "rotate", "rotatez":
		degrees, known := angleOf(args)
		if ok = known; known && math.Abs(math.Remainder(degrees, 360)) > .5 {
			m.mark(wordUnknown)
		}
	case "rotatex", "rotatey":
		ok = m.turn(args)
	case "translate", "translatex", "translatey", "translate3d":
		ok = m.move(name, args)
	case "translatez": // toward the viewer: no effect without perspective
	case "skew", "skewx", "skewy":
		for arg := range strings.SplitSeq(args, ",") {
			degrees, known := angleOf(arg)
			ok = ok && known && math.Abs(math.Remainder(degrees, 180)) < 75
		}
	case "matrix":
		ok = m.matrix(args)
	default:
		ok = false
	}
	if !ok {
		m.mark(wordDoubt)
	}
}

// mark records an effect; one that certainly hides stays.
func (m *cssMove) mark(word cssWord) {
	if m.word != wordHidden && m.word != wordDoubt {
		m.word = word
	}
}

// minScale is the scale below which a text of the usual size counts as hidden.
const minScale = .05

func (m *cssMove) shrink(name, args string) bool {
	least, greatest, i := float32(math.Inf(1)), float32(0), 0
	for arg := range strings.SplitSeq(args, ",") {
		v, ok := quantity(arg)
		if !ok {
			return false
		}
		if i < 2 {
			size := float32(math.Abs(float64(v.number)))
			least, greatest = min(least, size), max(greatest, size)
		}
		i++
	}
	if i == 1 && name != "scale" { // the other direction stays
		least, greatest = min(least, 1), max(greatest, 1)
	}
	m.scale *= least
	return least == 0 || least >= minScale || least == greatest
}

// turn turns about an axis that lies in the page.
func (m *cssMove) turn(angle string) bool {
	degrees, ok := angleOf(angle)
	if !ok {
		return false
	}
	switch turned := math.Abs(math.Remainder(degrees, 360)); {
	case math.Abs(turned-90) < .5:
		m.word = wordHidden
	case turned > 90 && m.word == wordBehind:
		m.word = 0
	case turned > 90:
		m.mark(wordBehind)
	}
	return true
}

func (m *cssMove) move(name, args string) bool {
	i := 0
	for arg := range strings.SplitSeq(args, ",") {
		v, ok := quantity(arg)
		if isMath(arg) {
			v, ok = computed(arg)
		}
		if !ok {
			return false
		}
		whole := float32(farAway / 2) // of a box of unknown size; twice that is beyond the window
		if name == "translatey" && v.unit == unitPercent {
			whole, v.number = 1, 0
		}
		switch at := v.inPixels(defaultFontSize, whole) * m.scale; {
		case name == "translatey" || i == 1:
			m.y += at
		case i == 0:
			m.x += at
		}
		i++
	}
	return true
}

func (m *cssMove) matrix(args string) bool {
	var v [6]float64
	fields := strings.Split(args, ",")
	if len(fields) != len(v) {
		return false
	}
	for i, field := range fields {
		n, ok := quantity(field)
		if !ok {
			return false
		}
		v[i] = float64(n.number)
	}
	m.x += float32(v[4]) * m.scale
	m.y += float32(v[5]) * m.scale
	m.scale *= float32(math.Sqrt(math.Abs(v[0]*v[3] - v[1]*v[2])))
	if v[1] != 0 || v[2] != 0 {
		m.mark(wordUnknown)
	}
	return true
}

// angleOf parses an angle in degrees.
func angleOf(s string) (degrees float64, ok bool) {
	if s == "" || isDigit(s[len(s)-1]) && strings.Trim(s, "+-0.") != "" || s == "none" {
		return 0, false
	}
	return parseHue(s)
}
