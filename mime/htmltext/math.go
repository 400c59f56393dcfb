package htmltext

import (
	"math"
	"strconv"
	"strings"
)

// A mathParser computes the functions of CSS that compute: calc, min, max and clamp (CSS Values and Units, section 10). It adds and compares
// what is of one unit; a sum of pixels and percentages, say, is not known before a page is laid out.
type mathParser struct {
	rest  string
	depth int
}

// maxMathDepth bounds the brackets inside each other.
const maxMathDepth = 32

// isMath reports whether a value is a function that computes.
func isMath(value string) bool {
	name, _, found := strings.Cut(value, "(")
	return found && (name == "calc" || name == "-webkit-calc" || name == "min" || name == "max" || name == "clamp")
}

// computed reads a value for which isMath is true.
func computed(value string) (cssValue, bool) {
	p := mathParser{rest: value}
	v, ok := p.factor()
	p.skip()
	return v, ok && p.rest == "" && !math.IsInf(float64(v.number), 0) && !math.IsNaN(float64(v.number))
}

func (p *mathParser) skip() { p.rest = strings.TrimLeft(p.rest, " \t\n\r\f") }

func (p *mathParser) take(s string) bool {
	p.skip()
	rest, ok := strings.CutPrefix(p.rest, s)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *mathParser) sum() (cssValue, bool) {
	v, ok := p.product()
	for ok {
		sign := float32(1)
		switch {
		case p.take("+ "):
		case p.take("- "):
			sign = -1
		default:
			return v, true
		}
		var next cssValue
		if next, ok = p.product(); ok {
			next.number *= sign
			v, ok = v.plus(next)
		}
	}
	return v, ok
}

// plus adds quantities of one unit; what is 0 has every unit.
func (v cssValue) plus(other cssValue) (cssValue, bool) {
	if v.unit == unitNumber != (other.unit == unitNumber) {
		return v, false
	}
	if v.number == 0 {
		return other, true
	}
	ok := v.unit == other.unit || other.number == 0
	v.number += other.number
	return v, ok
}

func (p *mathParser) product() (cssValue, bool) {
	v, ok := p.factor()
	for ok {
		isDivision := p.take("/")
		if !isDivision && !p.take("*") {
			return v, true
		}
		var next cssValue
		next, ok = p.factor()
		switch {
		case isDivision:
			ok = ok && next.unit == unitNumber && next.number != 0
			v.number /= next.number
		case next.unit == unitNumber:
			v.number *= next.number
		default:
			ok = ok && v.unit == unitNumber
			v = cssValue{number: v.number * next.number, unit: next.unit}
		}
	}
	return v, ok
}

// factor reads a quantity, a bracket or a function.
func (p *mathParser) factor() (cssValue, bool) {
	p.skip()
	end := strings.IndexAny(p.rest, " \t\n\r\f(),*/")
	if end < 0 {
		end = len(p.rest)
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	if strings.HasPrefix(p.rest, "(") {
		return p.function(word)
	}
	return quantity(word)
}

// function reads what is in the brackets after a name; without one they are just brackets.
func (p *mathParser) function(name string) (v cssValue, ok bool) {
	if p.depth++; p.depth > maxMathDepth {
		return cssValue{}, false
	}
	defer func() { p.depth-- }()
	p.rest = p.rest[1:]
	var args []cssValue
	for len(args) == 0 || p.take(",") {
		arg, ok := p.sum()
		if !ok {
			return cssValue{}, false
		}
		args = append(args, arg)
	}
	if !p.take(")") && p.rest != "" { // the end of the value closes what is open
		return cssValue{}, false
	}
	switch {
	case (name == "" || name == "calc" || name == "-webkit-calc") && len(args) == 1:
		return args[0], true
	case name == "min":
		return least(args, 1)
	case name == "max":
		return least(args, -1)
	case name == "clamp" && len(args) == 3:
		if v, ok = least(args[1:], 1); ok {
			return least([]cssValue{args[0], v}, -1)
		}
	}
	return cssValue{}, false
}

// least returns the least of quantities of one unit, or with a sign of -1 the greatest.
func least(args []cssValue, sign float32) (cssValue, bool) {
	found := args[0]
	for _, arg := range args[1:] {
		if _, ok := found.plus(arg); !ok {
			return cssValue{}, false
		}
		if sign*arg.number < sign*found.number {
			found = arg
		}
	}
	return found, true
}

// quantity reads a number with or without a unit.
func quantity(s string) (cssValue, bool) {
	digits := 0
	for digits < len(s) && (isDigit(s[digits]) || s[digits] == '.' || s[digits] == '-' || s[digits] == '+') {
		digits++
	}
	if digits == 0 {
		return cssValue{}, false
	}
	n, err := strconv.ParseFloat(s[:digits], 64)
	if err != nil || math.IsInf(n, 0) {
		return cssValue{}, false
	}
	switch unit := s[digits:]; unit {
	case "":
		return cssValue{number: float32(n), unit: unitNumber}, true
	case "%":
		return cssValue{number: float32(n / 100), unit: unitPercent}, true
	case "em":
		return cssValue{number: float32(n), unit: unitEm}, true
	case "ex", "ch", "cap", "ic":
		return cssValue{number: float32(n / 2), unit: unitEm}, true
	case "lh":
		return cssValue{number: float32(n * 1.15), unit: unitEm}, true
	case "rlh":
		return cssValue{number: float32(n * 1.15), unit: unitRem}, true
	case "rex", "rch", "rcap", "ric":
		return cssValue{number: float32(n / 2), unit: unitRem}, true
	case "rem":
		return cssValue{number: float32(n), unit: unitRem}, true
	default:
		size, ok := pixels[unit]
		return cssValue{number: float32(n * size), unit: unitPixel}, ok
	}
}
