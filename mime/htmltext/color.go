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

// Text counts as hidden below this contrast (WCAG 2, relative luminance), which people do not notice, if no channel
// differs by more than maxDistance.
const (
	minContrast = 1.15
	maxDistance = 40
)

// isLost reports whether text of the color is invisible on the background.
func (c rgba) isLost(background rgba) bool {
	c = c.over(background)
	if distance(c.r, background.r) > maxDistance || distance(c.g, background.g) > maxDistance ||
		distance(c.b, background.b) > maxDistance {
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

// hslColor parses a hue in degrees or another unit of angles, a saturation and a lightness.
func hslColor(args []string, alpha float64) (rgba, bool) {
	factor, number := 1., strings.TrimSuffix(args[0], "deg")
	if turns, ok := strings.CutSuffix(number, "turn"); ok {
		factor, number = 360, turns
	} else if radians, ok := strings.CutSuffix(number, "rad"); ok {
		factor, number = 180/math.Pi, radians
	}
	hue, err := strconv.ParseFloat(number, 64)
	saturation, ok := parseChannel(args[1], 1)
	lightness, ok2 := parseChannel(args[2], 1)
	if err != nil || math.IsNaN(hue) || math.IsInf(hue*factor, 0) || !ok || !ok2 {
		return rgba{}, false
	}
	return colorOfHue(hue*factor, saturation, lightness, alpha), true
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

// parseLegacyColor parses the value of a color attribute, where nearly everything is a color (WHATWG HTML, section
// 2.3.6).
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

// colorNames are the named colors of CSS Color 4, as alpha, red, green and blue.
var colorNames = map[string]uint32{
	"aliceblue": 0xfff0f8ff, "antiquewhite": 0xfffaebd7, "aqua": 0xff00ffff, "aquamarine": 0xff7fffd4,
	"azure": 0xfff0ffff, "beige": 0xfff5f5dc, "bisque": 0xffffe4c4, "black": 0xff000000, "blanchedalmond": 0xffffebcd,
	"blue": 0xff0000ff, "blueviolet": 0xff8a2be2, "brown": 0xffa52a2a, "burlywood": 0xffdeb887,
	"cadetblue":  0xff5f9ea0,
	"chartreuse": 0xff7fff00, "chocolate": 0xffd2691e, "coral": 0xffff7f50,
	"cornflowerblue": 0xff6495ed, "cornsilk": 0xfffff8dc, "crimson": 0xffdc143c, "cyan": 0xff00ffff,
	"darkblue": 0xff00008b, "darkcyan": 0xff008b8b, "darkgoldenrod": 0xffb8860b, "darkgray": 0xffa9a9a9,
	"darkgreen": 0xff006400, "darkgrey": 0xffa9a9a9, "darkkhaki": 0xffbdb76b, "darkmagenta": 0xff8b008b,
	"darkolivegreen": 0xff556b2f, "darkorange": 0xffff8c00, "darkorchid": 0xff9932cc, "darkred": 0xff8b0000,
	"darksalmon": 0xffe9967a, "darkseagreen": 0xff8fbc8f, "darkslateblue": 0xff483d8b, "darkslategray": 0xff2f4f4f,
	"darkslategrey": 0xff2f4f4f, "darkturquoise": 0xff00ced1, "darkviolet": 0xff9400d3, "deeppink": 0xffff1493,
	"deepskyblue": 0xff00bfff, "dimgray": 0xff696969, "dimgrey": 0xff696969, "dodgerblue": 0xff1e90ff,
	"firebrick": 0xffb22222, "floralwhite": 0xfffffaf0, "forestgreen": 0xff228b22, "fuchsia": 0xffff00ff,
	"gainsboro": 0xffdcdcdc, "ghostwhite": 0xfff8f8ff, "gold": 0xffffd700, "goldenrod": 0xffdaa520,
	"gray": 0xff808080, "green": 0xff008000, "greenyellow": 0xffadff2f, "grey": 0xff808080, "honeydew": 0xfff0fff0,
	"hotpink": 0xffff69b4, "indianred": 0xffcd5c5c, "indigo": 0xff4b0082, "ivory": 0xfffffff0, "khaki": 0xfff0e68c,
	"lavender": 0xffe6e6fa, "lavenderblush": 0xfffff0f5, "lawngreen": 0xff7cfc00, "lemonchiffon": 0xfffffacd,
	"lightblue": 0xffadd8e6, "lightcoral": 0xfff08080, "lightcyan": 0xffe0ffff, "lightgoldenrodyellow": 0xfffafad2,
	"lightgray": 0xffd3d3d3, "lightgreen": 0xff90ee90, "lightgrey": 0xffd3d3d3, "lightpink": 0xffffb6c1,
	"lightsalmon": 0xffffa07a, "lightseagreen": 0xff20b2aa, "lightskyblue": 0xff87cefa, "lightslategray": 0xff778899,
	"lightslategrey": 0xff778899, "lightsteelblue": 0xffb0c4de, "lightyellow": 0xffffffe0, "lime": 0xff00ff00,
	"limegreen": 0xff32cd32, "linen": 0xfffaf0e6, "magenta": 0xffff00ff, "maroon": 0xff800000,
	"mediumaquamarine": 0xff66cdaa, "mediumblue": 0xff0000cd, "mediumorchid": 0xffba55d3, "mediumpurple": 0xff9370db,
	"mediumseagreen": 0xff3cb371, "mediumslateblue": 0xff7b68ee, "mediumspringgreen": 0xff00fa9a,
	"mediumturquoise": 0xff48d1cc, "mediumvioletred": 0xffc71585, "midnightblue": 0xff191970, "mintcream": 0xfff5fffa,
	"mistyrose": 0xffffe4e1, "moccasin": 0xffffe4b5, "navajowhite": 0xffffdead, "navy": 0xff000080,
	"oldlace": 0xfffdf5e6, "olive": 0xff808000, "olivedrab": 0xff6b8e23, "orange": 0xffffa500,
	"orangered": 0xffff4500, "orchid": 0xffda70d6, "palegoldenrod": 0xffeee8aa, "palegreen": 0xff98fb98,
	"paleturquoise": 0xffafeeee, "palevioletred": 0xffdb7093, "papayawhip": 0xffffefd5, "peachpuff": 0xffffdab9,
	"peru": 0xffcd853f, "pink": 0xffffc0cb, "plum": 0xffdda0dd, "powderblue": 0xffb0e0e6, "purple": 0xff800080,
	"rebeccapurple": 0xff663399, "red": 0xffff0000, "rosybrown": 0xffbc8f8f, "royalblue": 0xff4169e1,
	"saddlebrown": 0xff8b4513, "salmon": 0xfffa8072, "sandybrown": 0xfff4a460, "seagreen": 0xff2e8b57,
	"seashell": 0xfffff5ee, "sienna": 0xffa0522d, "silver": 0xffc0c0c0, "skyblue": 0xff87ceeb,
	"slateblue": 0xff6a5acd, "slategray": 0xff708090, "slategrey": 0xff708090, "snow": 0xfffffafa,
	"springgreen": 0xff00ff7f, "steelblue": 0xff4682b4, "tan": 0xffd2b48c, "teal": 0xff008080, "thistle": 0xffd8bfd8,
	"tomato": 0xffff6347, "transparent": 0x00000000, "turquoise": 0xff40e0d0, "violet": 0xffee82ee,
	"wheat": 0xfff5deb3, "white": 0xffffffff, "whitesmoke": 0xfff5f5f5,
	"yellow": 0xffffff00, "yellowgreen": 0xff9acd32,
}

// systemColors are the colors of the system (CSS Color 4, section 10), as Chromium has them in light windows.
var systemColors = map[string]uint32{
	"-webkit-activelink": 0xffff0000, "-webkit-link": 0xff0000ee, "accentcolor": 0xff0075ff,
	"accentcolortext": 0xffffffff, "activeborder": 0xff000000, "activecaption": 0xffffffff, "activetext": 0xffff0000,
	"appworkspace": 0xffffffff, "background": 0xffffffff, "buttonborder": 0xff000000, "buttonface": 0xffefefef,
	"buttonhighlight": 0xffefefef, "buttonshadow": 0xffefefef, "buttontext": 0xff000000, "canvas": 0xffffffff,
	"canvastext": 0xff000000, "captiontext": 0xff000000, "field": 0xffffffff, "fieldtext": 0xff000000,
	"graytext": 0xff808080, "highlight": 0xcc0041c6, "highlighttext": 0xffffffff, "inactiveborder": 0xff000000,
	"inactivecaption": 0xffffffff, "inactivecaptiontext": 0xff808080, "infobackground": 0xffffffff,
	"infotext": 0xff000000, "linktext": 0xff0000ee, "mark": 0xffffff00, "marktext": 0xff000000, "menu": 0xffffffff,
	"menutext": 0xff000000, "scrollbar": 0xffffffff, "selecteditem": 0xff1967d2, "selecteditemtext": 0xffffffff,
	"threeddarkshadow": 0xff000000, "threedface": 0xffefefef, "threedhighlight": 0xff000000,
	"threedlightshadow": 0xff000000, "threedshadow": 0xff000000, "visitedtext": 0xff551a8b, "window": 0xffffffff,
	"windowframe": 0xff000000, "windowtext": 0xff000000,
}
