package htmltext

import (
	"math"
	"strconv"
	"strings"
)

// parseHue parses an angle, in degrees if it has no unit.
func parseHue(s string) (degrees float64, ok bool) {
	factor := 1.
	for _, unit := range []struct {
		name    string
		degrees float64
	}{{"deg", 1}, {"grad", .9}, {"rad", 180 / math.Pi}, {"turn", 360}} {
		if number, found := strings.CutSuffix(s, unit.name); found {
			s, factor = number, unit.degrees
			break
		}
	}
	if s == "none" {
		return 0, true
	}
	v, err := strconv.ParseFloat(s, 64)
	return v * factor, err == nil && !math.IsNaN(v) && !math.IsInf(v*factor, 0)
}

// hwbColor returns the color of a hue with white and black mixed in.
func hwbColor(args []string, alpha float64) (rgba, bool) {
	hue, ok := parseHue(args[0])
	white, ok2 := parseHundredth(args[1])
	black, ok3 := parseHundredth(args[2])
	if !ok || !ok2 || !ok3 {
		return rgba{}, false
	}
	if sum := white + black; sum >= 1 {
		gray := toByte(255 * white / sum)
		return rgba{gray, gray, gray, toByte(alpha * 255)}, true
	}
	c := colorOfHue(hue, 1, .5, alpha)
	mix := func(v uint8) uint8 { return toByte(float64(v)*(1-white-black) + 255*white) }
	return rgba{mix(c.r), mix(c.g), mix(c.b), c.a}, true
}

// parseHundredth parses a percentage, or a number that stands for one.
func parseHundredth(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	return max(0, min(v/100, 1)), err == nil && !math.IsNaN(v)
}

// srgbColor reads channels from 0 to 1.
func srgbColor(args []string, alpha float64) (rgba, bool) {
	var v [3]uint8
	for i := range v {
		n, ok := parseChannel(args[i], 1)
		if !ok {
			return rgba{}, false
		}
		v[i] = toByte(n * 255)
	}
	return rgba{v[0], v[1], v[2], toByte(alpha * 255)}, true
}

// labColor parses lab, lch, oklab and oklch (CSS Color 4, sections 9 and 10): a lightness, and two axes or a chroma and a hue.
func labColor(name string, args []string, alpha float64) (rgba, bool) {
	isOK := strings.HasPrefix(name, "ok")
	whole, axis := 100., 125. // of percentages
	if isOK {
		whole, axis = 1, .4
	} else if name == "lch" {
		axis = 150
	}
	light, ok := parseAxis(args[0], whole)
	a, ok2 := parseAxis(args[1], axis)
	b, ok3 := parseAxis(args[2], axis)
	if strings.HasSuffix(name, "ch") {
		var hue float64
		hue, ok3 = parseHue(args[2])
		sin, cos := math.Sincos(hue * math.Pi / 180)
		a, b = a*cos, a*sin
	}
	if !ok || !ok2 || !ok3 {
		return rgba{}, false
	}
	var red, green, blue float64
	if light = max(0, min(light, whole)); isOK {
		red, green, blue = oklabLight(light, a, b)
	} else {
		red, green, blue = labLight(light, a, b)
	}
	return rgba{gammaByte(red), gammaByte(green), gammaByte(blue), toByte(alpha * 255)}, true
}

func parseAxis(s string, whole float64) (float64, bool) {
	if s == "none" {
		return 0, true
	}
	number, isPercentage := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(number, 64)
	if isPercentage {
		v *= whole / 100
	}
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// oklabLight converts to linear red, green and blue.
func oklabLight(light, a, b float64) (red, green, blue float64) {
	l := cubed(light + .3963377774*a + .2158037573*b)
	m := cubed(light - .1055613458*a - .0638541728*b)
	s := cubed(light - .0894841775*a - 1.2914855480*b)
	return 4.0767416621*l - 3.3077115913*m + .2309699292*s, -1.2684380046*l + 2.6097574011*m - .3413193965*s,
		-.0041960863*l - .7034186147*m + 1.7076147010*s
}

// labLight converts to linear red, green and blue, which have another white point.
func labLight(light, a, b float64) (red, green, blue float64) {
	const kappa, epsilon = 24389. / 27, 216. / 24389
	cube := func(f float64) float64 {
		if v := f * f * f; v > epsilon {
			return v
		}
		return (116*f - 16) / kappa
	}
	fy := (light + 16) / 116
	x, y, z := .9642956764*cube(fy+a/500), cube(fy), .8251046025*cube(fy-b/200)
	return 3.1341359569*x - 1.6173863321*y - .4906619460*z, -.9787954765*x + 1.9162543773*y + .0334427430*z,
		.0719553798*x - .2289767598*y + 1.4053860351*z
}

// gammaByte returns the channel value of a linear light.
func gammaByte(light float64) uint8 {
	if light <= .0031308 {
		return toByte(255 * 12.92 * light)
	}
	return toByte(255 * (1.055*math.Pow(light, 1/2.4) - .055))
}

func cubed(v float64) float64 { return v * v * v }
