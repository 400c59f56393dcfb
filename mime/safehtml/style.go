package safehtml

import (
	"regexp"
	"strings"
)

// maxStyle bounds a style attribute, in bytes: what is longer is left out.
const maxStyle = 4 << 10

// Values are lists of words, numbers, and colors. There is no function but those of colors, no escape, no comment and
// no negative length, which would move text over other text.
const (
	lengthPattern = `(?:0|\d{1,4}(?:\.\d{1,4})?(?:px|pt|em|rem|ex|ch|in|cm|mm|pc|%)?|\.\d{1,4}(?:em|rem|%)|auto|normal)`
	wordsPattern  = `(?:[a-z]{2,20}(?:-[a-z]{2,20}){0,3})`
	colorPattern  = `(?:#[0-9a-f]{3,8}|[a-z]{3,20}|(?:rgb|hsl)a?\([0-9., %/]{5,40}\))`
)

var (
	cssColor   = list(colorPattern, 1)
	cssLengths = list(`(?:`+lengthPattern+`|`+wordsPattern+`)`, 4)
	cssWords   = list(wordsPattern, 4)
	cssBorder  = list(`(?:`+lengthPattern+`|`+colorPattern+`)`, 4)
	cssWeight  = list(`(?:[1-9]00|[a-z]{4,7})`, 1)
	cssDisplay = regexp.MustCompile(`^(?:none|block|inline|inline-block|list-item|table|inline-table|` +
		`table-(?:row|cell|caption|(?:row|header|footer)-group|column|column-group))$`)
	cssFonts = regexp.MustCompile(`^[\pL0-9 ,'"_-]{1,200}$`)
	cssFont  = regexp.MustCompile(`^[\pL0-9 ,.%/'"_-]{1,200}$`)
)

// list is what matches one to n values.
func list(value string, n int) *regexp.Regexp {
	return regexp.MustCompile(`^` + value + `(?: ` + value + `){0,` + string(rune('0'+n-1)) + `}$`)
}

// properties are those that are kept, and what their values are like. None of them moves anything out of its place,
// cuts it off or makes it transparent.
var properties = func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{"display": cssDisplay, "font": cssFont, "font-family": cssFonts,
		"font-weight": cssWeight}
	for like, names := range map[*regexp.Regexp]string{
		cssColor: "background-color color border-color border-top-color border-right-color border-bottom-color " +
			"border-left-color",
		cssLengths: "width min-width max-width min-height margin margin-top margin-right margin-bottom " +
			"margin-left padding padding-top padding-right padding-bottom padding-left font-size line-height letter-spacing " +
			"border-width border-top-width border-right-width border-bottom-width border-left-width border-radius " +
			"border-spacing text-indent vertical-align",
		cssBorder: "border border-top border-right border-bottom border-left",
		cssWords: "border-collapse border-style clear direction float font-style font-variant list-style list-style-type " +
			"table-layout text-align text-decoration text-decoration-line text-transform white-space word-break word-wrap " +
			"overflow-wrap box-sizing",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = like
		}
	}
	return all
}()

// cleanStyle returns what is kept of a style attribute.
func cleanStyle(source string) string {
	if len(source) > maxStyle {
		return ""
	}
	var b strings.Builder
	for declaration := range strings.SplitSeq(source, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		value = strings.TrimSpace(value)
		if i := strings.LastIndexByte(value, '!'); i >= 0 && strings.EqualFold(strings.TrimSpace(value[i+1:]), "important") {
			value = strings.TrimSpace(value[:i])
		}
		switch name {
		case "background":
			name = "background-color" // a picture is left out
		case "height":
			name = "min-height" // what does not fit would be over what follows
		}
		like := properties[name]
		if like == nil {
			continue
		}
		if like != cssFonts && like != cssFont {
			value = strings.ToLower(value)
		}
		value = strings.Join(strings.Fields(value), " ")
		if !like.MatchString(value) || !quotesMatch(value) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		b.WriteString(name + ":" + value)
	}
	return b.String()
}

// quotesMatch reports whether each string of a value ends: an open one would take the next declaration in.
func quotesMatch(value string) bool {
	open := rune(0)
	for _, r := range value {
		switch {
		case open == 0 && (r == '\'' || r == '"'):
			open = r
		case r == open:
			open = 0
		}
	}
	return open == 0
}
