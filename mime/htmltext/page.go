package htmltext

// A Page is the text of an HTML page: the visible text, and separately the text that only its source has.
type Page struct {
	// Text is the visible text. Blocks are lines, with an empty line where browsers leave one. Items of lists begin with
	// a dash or their number. A blank separates the cells of a table's row. Pictures give their alternative text, and
	// buttons their label. Preformatted text keeps its blanks; elsewhere they are collapsed, including non-breaking
	// ones.
	Text string

	// Hidden are the hidden texts in the order of the source, at most 1000. The last one includes any further texts.
	// Style sheets and scripts are not hidden texts.
	Hidden []HiddenText

	// Doubtful has the texts within Text that some mail clients show and others do not, with a blank after each: text in
	// a tiny font compared with the surrounding one, with overlapping letters, or in a closed details element. It ends
	// after about 4 KiB. Text that only Outlook hides, by mso-hide, is not included.
	Doubtful string

	// Alternative are the positions in Text of the alternative texts of pictures, in order. A person who sees the
	// picture does not see its alternative text, which may differ. If there are more than 1000, the reading is
	// Incomplete.
	Alternative []Span

	// Links are the links in the order of the source; at most 1000.
	Links []Link

	// Incomplete reports that Text may have hidden text, or lack text that styles generate: a style of the text is not
	// emulated, or the style sheets were too large to be applied completely; see [Read]. Hardly any honest page is
	// Incomplete.
	Incomplete bool
}

// A Span is a part of a text: text[Start:End].
type Span struct{ Start, End int }

// A HiddenText is a text in the source that a person does not see.
type HiddenText struct {
	Text   string
	By     HiddenBy
	Offset int // of its beginning in the source, in bytes
}

// HiddenBy is the cause that hides a text.
type HiddenBy string

// The causes that hide text. If several apply, it is the outermost one.
const (
	// HiddenByDisplay: display: none, or the attribute hidden.
	HiddenByDisplay HiddenBy = "display"
	// HiddenByVisibility: visibility: hidden or collapse.
	HiddenByVisibility HiddenBy = "visibility"
	// HiddenByOpacity: an opacity of less than a tenth, combined with that of all enclosing elements.
	HiddenByOpacity HiddenBy = "opacity"
	// HiddenBySize: a font of at most one pixel. The alternative text of a picture that is at most one pixel wide or high
	// is left out, and is no hidden text.
	HiddenBySize HiddenBy = "size"
	// HiddenByColor: a color that is indistinguishable from the background, with a contrast under 1.15. Text on a
	// picture does not count.
	HiddenByColor HiddenBy = "color"
	// HiddenByPosition: a position to the left of the page, above it, or far to the right.
	HiddenByPosition HiddenBy = "position"
	// HiddenByClipping: a clipping box without height or width.
	HiddenByClipping HiddenBy = "clipping"
	// HiddenByCharacter: characters without width, soft hyphens, marks of direction, fillers, and tags (as the ASCII
	// that they spell) within visible text. Joiners and selectors that the text's script needs do not count.
	HiddenByCharacter HiddenBy = "character"
	// HiddenByElement: an element that mail clients do not show, such as title, template, iframe and video.
	HiddenByElement HiddenBy = "element"
	// HiddenByComment: a comment.
	HiddenByComment HiddenBy = "comment"
	// HiddenByCondition: a comment whose content only Outlook on Windows shows.
	HiddenByCondition HiddenBy = "conditional_comment"
)

// A hiding is a HiddenBy in a byte, since each style has one.
type hiding uint8

const (
	notHidden hiding = iota
	hiddenByDisplay
	hiddenByVisibility
	hiddenByOpacity
	hiddenBySize
	hiddenByColor
	hiddenByPosition
	hiddenByClipping
	hiddenByCharacter
	hiddenByElement
	hiddenByComment
	hiddenByCondition
)

var hidings = [...]HiddenBy{
	"", HiddenByDisplay, HiddenByVisibility, HiddenByOpacity, HiddenBySize, HiddenByColor, HiddenByPosition,
	HiddenByClipping,
	HiddenByCharacter, HiddenByElement, HiddenByComment, HiddenByCondition,
}

// A Link is an address that a person can open: the href of an a element.
type Link struct {
	URL string
	// Text[Start:End] of the [Page] is the link's text. It is empty for a picture without alternative text, and for a
	// hidden link.
	Start, End int
}

const (
	maxHidden    = 1000
	maxPageLinks = 1000

	maxAlternatives = 1000
)

// Read reads an HTML page, such as the text/html parts of a message. It applies the rules of the page's
// own style sheets and the styles of its elements like a browser in a window of 1280 by 800 pixels, with scripts
// turned off. It does not load pictures and external style sheets.
//
// What is not emulated does not hide text, and makes the reading Incomplete where it could; see the limits of the
// package. Animations are not run, and styles for :hover, :focus, :target and :visited are not applied.
//
// The options of a select and the content of a closed details element count as visible: a person opens them with a
// click, and mail clients that do not know the elements show their content. The latter is Doubtful.
//
// Every input is accepted. Time grows linearly with its size, and allocations stay under four times its size plus 256
// KiB. Invalid UTF-8 counts as the U+FFFD that replaces it.
func Read(source string) Page {
	quirks := isQuirky(source)
	r := newReader(source, quirks)
	r.read()
	page := r.result()
	if !quirks || !r.styler.dependsOnMode() {
		return page
	}
	r = newReader(source, false)
	r.read()
	return eitherMode(page, r.result())
}

// Text returns the visible text of HTML: the Text of [Read].
func Text(source string) string { return Read(source).Text }
