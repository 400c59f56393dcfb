package htmltext

import (
	"math"
	"strconv"
	"strings"
)

// An rgba is a color: red, green, blue and alpha, each 0 to 255.
type rgba struct{ r, g, b, a uint8 }

var (
	black = rgba{a: 255}
	white = rgba{255, 255, 255, 255}
	// linkColor is the color of links without a style.
	linkColor = rgba{b: 0xee, a: 255}
)

// over returns the visible color of c on top of another.
func (c rgba) over(below rgba) rgba {
	if c.a == 255 {
		return c
	}
	mix := func(top, bottom uint8) uint8 {
		return uint8((int(top)*int(c.a) + int(bottom)*(255-int(c.a)) + 127) / 255)
	}
	return rgba{mix(c.r, below.r), mix(c.g, below.g), mix(c.b, below.b), 255}
}

// Text counts as hidden below this contrast (WCAG 2, relative luminance), which people do not notice, if no channel differs by
// more than maxDistance.
const (
	minContrast = 1.15
	maxDistance = 40
)

// isLost reports whether text of the color is invisible on the background.
func (c rgba) isLost(background rgba) bool {
	c = c.over(background)
	if distance(c.r, background.r) > maxDistance || distance(c.g, background.g) > maxDistance || distance(c.b, background.b) > maxDistance {
		return false
	}
	a, b := c.luminance(), background.luminance()
	return (max(a, b)+.05)/(min(a, b)+.05) < minContrast
}

func distance(a, b uint8) uint8 { return max(a, b) - min(a, b) }

func (c rgba) luminance() float64 {
	return .2126*linearLight[c.r] + .7152*linearLight[c.g] + .0722*linearLight[c.b]
}

// linearLight returns the light of a channel's value in sRGB.
var linearLight = func() (table [256]float64) {
	for i := range table {
		v := float64(i) / 255
		if v <= .03928 {
			table[i] = v / 12.92
		} else {
			table[i] = math.Pow((v+.055)/1.055, 2.4)
		}
	}
	return table
}()

// parseColor parses a color of CSS. s must be in lower case.
func parseColor(s string) (rgba, bool) {
	if strings.HasPrefix(s, "#") {
		return parseHexColor(s[1:])
	}
	name, rest, isFunction := strings.Cut(s, "(")
	if !isFunction {
		c, ok := colorNames[s]
		if !ok {
			c, ok = systemColors[s]
		}
		return rgba{uint8(c >> 16), uint8(c >> 8), uint8(c), uint8(c >> 24)}, ok
	}
	if name == "color" {
		rest = strings.TrimPrefix(rest, "srgb ")
		name = "srgb"
	}
	args := strings.FieldsFunc(strings.TrimSuffix(rest, ")"), func(r rune) bool {
		return r == ',' || r == '/' || isSpaceByte(byte(r))
	})
	if len(args) < 3 || len(args) > 4 {
		return rgba{}, false
	}
	alpha := float64(1)
	if len(args) == 4 {
		var ok bool
		if alpha, ok = parseChannel(args[3], 1); !ok {
			return rgba{}, false
		}
	}
	switch name {
	case "rgb", "rgba":
		return rgbColor(args, alpha)
	case "hsl", "hsla":
		return hslColor(args, alpha)
	case "hwb":
		return hwbColor(args, alpha)
	case "srgb":
		return srgbColor(args, alpha)
	case "lab", "lch", "oklab", "oklch":
		return labColor(name, args, alpha)
	default:
		return rgba{}, false
	}
}

func parseHexColor(s string) (rgba, bool) {
	v, err := strconv.ParseUint(s, 16, 32)
	if err != nil {
		return rgba{}, false
	}
	switch len(s) {
	case 3:
		v = v<<4 | 0xf
		fallthrough
	case 4:
		return rgba{uint8(v>>12&15) * 17, uint8(v>>8&15) * 17, uint8(v>>4&15) * 17, uint8(v&15) * 17}, true
	case 6:
		v = v<<8 | 0xff
		fallthrough
	case 8:
		return rgba{uint8(v >> 24), uint8(v >> 16), uint8(v >> 8), uint8(v)}, true
	default:
		return rgba{}, false
	}
}

// parseChannel parses a number up to whole, or a percentage of it, and clamps it.
func parseChannel(s string, whole float64) (float64, bool) {
	number, isPercentage := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) {
		return 0, false
	}
	if isPercentage {
		v = v * whole / 100
	}
	return max(0, min(v, whole)), true
}

func rgbColor(args []string, alpha float64) (rgba, bool) {
	var v [3]float64
	for i := range v {
		var ok bool
		if v[i], ok = parseChannel(args[i], 255); !ok {
			return rgba{}, false
		}
	}
	return rgba{toByte(v[0]), toByte(v[1]), toByte(v[2]), toByte(alpha * 255)}, true
}

func hslColor(args []string, alpha float64) (rgba, bool) {
	hue, ok0 := parseHue(args[0])
	saturation, ok := parseChannel(args[1], 1)
	lightness, ok2 := parseChannel(args[2], 1)
	if !ok0 || !ok || !ok2 {
		return rgba{}, false
	}
	return colorOfHue(hue, saturation, lightness, alpha), true
}

// colorOfHue returns the color of a hue in degrees, a saturation and a lightness.
func colorOfHue(hue, saturation, lightness, alpha float64) rgba {
	channel := func(n float64) uint8 {
		k := math.Mod(math.Mod(n+hue/30, 12)+12, 12)
		return toByte(255 * (lightness - saturation*min(lightness, 1-lightness)*max(-1, min(k-3, 9-k, 1))))
	}
	return rgba{channel(0), channel(8), channel(4), toByte(alpha * 255)}
}

func toByte(v float64) uint8 { return uint8(max(0, min(math.Round(v), 255))) }

// parseLegacyColor parses the value of a color attribute, where nearly everything is a color (WHATWG HTML, section 2.3.6).
func parseLegacyColor(s string) (rgba, bool) {
	s = strings.ToLower(strings.Trim(s, " \t\r\n\f"))
	if s == "" || s == "transparent" {
		return rgba{}, false
	}
	if c, ok := colorNames[s]; ok {
		return rgba{uint8(c >> 16), uint8(c >> 8), uint8(c), 255}, true
	}
	if len(s) == 4 && s[0] == '#' {
		if c, ok := parseHexColor(s[1:]); ok {
			return c, true
		}
	}
	digits := []byte(strings.TrimPrefix(s[:min(len(s), 128)], "#"))
	for i, c := range digits {
		if !isHexDigit(c) {
			digits[i] = '0'
		}
	}
	for len(digits) == 0 || len(digits)%3 != 0 {
		digits = append(digits, '0')
	}
	third := len(digits) / 3
	var v [3]uint8
	skip := max(0, third-8)
	for skip < third-2 && digits[skip] == '0' && digits[third+skip] == '0' && digits[2*third+skip] == '0' {
		skip++
	}
	for i := range v {
		part := digits[i*third+skip : (i+1)*third]
		n, err := strconv.ParseUint(string(part[:min(2, len(part))]), 16, 8)
		if err != nil {
			return rgba{}, false
		}
		v[i] = uint8(n)
	}
	return rgba{v[0], v[1], v[2], 255}, true
}

func isHexDigit(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
