package mime

import (
	"slices"
	"strings"
)

// An HTMLText is what a page of HTML says: to the person who sees it, and apart from that to whoever reads its source.
type HTMLText struct {
	// Text is what a person sees. Blocks are lines, with an empty line where browsers leave one; items of lists have a dash or
	// their number; cells of a table's row are set apart by a blank; pictures give their alternative text, buttons their label.
	// Preformatted text keeps its blanks; elsewhere they are collapsed, non-breaking ones too.
	Text string

	// Hidden are the texts that a person does not see, in the order of the source. There are at most 1000; the last holds what
	// would be more. Style sheets and scripts are not among them.
	Hidden []HiddenText

	// Doubtful are texts within Text that some mail clients show and others do not, a blank after each: of a font that is tiny
	// against the one around it, with letters upon each other, behind a mask, or in a details element that is closed. It ends
	// after about 4 KiB. What only Outlook hides, by mso-hide, is not among them.
	Doubtful string

	// Alternative are the places in Text of the alternative texts of pictures, in their order. Who sees the picture does not see
	// them, and they may say something else. Where there are more than 1000, the reading is Incomplete.
	Alternative []TextSpan

	// Links are the links, in the order of the source; the first 1000.
	Links []Link

	// Incomplete reports that Text may hold text that a person does not see, or lack some that styles generate: the style sheets were
	// too large or too intricate to be applied whole, a rule that hides text applies or not depending on what is not read, or a style
	// of the text is not understood; see [ReadHTML]. Hardly any page that was made to be read is.
	Incomplete bool
}

// A TextSpan is a part of a text: text[Start:End].
type TextSpan struct{ Start, End int }

// A HiddenText is a text that the source holds and a person does not see.
type HiddenText struct {
	Text   string
	By     HiddenBy
	Offset int // of its beginning in the source, in bytes
}

// HiddenBy says what hides a text.
type HiddenBy string

// What hides text. Where several things do, it is the outermost.
const (
	// HiddenByDisplay: display: none, or the attribute hidden.
	HiddenByDisplay HiddenBy = "display"
	// HiddenByVisibility: visibility: hidden or collapse, or content-visibility: hidden.
	HiddenByVisibility HiddenBy = "visibility"
	// HiddenByOpacity: an opacity of less than a tenth, with all elements around.
	HiddenByOpacity HiddenBy = "opacity"
	// HiddenBySize: a font of at most one pixel, or the alternative text of a picture that is at most one wide or high.
	HiddenBySize HiddenBy = "size"
	// HiddenByColor: a color that cannot be told from the background, a contrast under 1.15. Before a picture none is.
	HiddenByColor HiddenBy = "color"
	// HiddenByPosition: a place to the left of the page, above it, or far to the right.
	HiddenByPosition HiddenBy = "position"
	// HiddenByClipping: a box without height or width that cuts its content off, a clip path, or a scale of 0.
	HiddenByClipping HiddenBy = "clipping"
	// HiddenByCharacter: characters without width, soft hyphens, marks of direction, fillers, and tags (as the ASCII that they
	// spell). They stand within the text that is seen; joiners and selectors that its script needs are not counted.
	HiddenByCharacter HiddenBy = "character"
	// HiddenByElement: an element that mail clients do not show, as title, template, iframe and video.
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
	"", HiddenByDisplay, HiddenByVisibility, HiddenByOpacity, HiddenBySize, HiddenByColor, HiddenByPosition, HiddenByClipping,
	HiddenByCharacter, HiddenByElement, HiddenByComment, HiddenByCondition,
}

// A Link is an address that a person can open: the href of an a element.
type Link struct {
	URL string // as written, with character references decoded and blanks around it left out
	// Text[Start:End] of the [HTMLText] is what stands for it; empty for a picture without alternative text, and for a link
	// that is hidden.
	Start, End int
}

const (
	maxHidden    = 1000
	maxPageLinks = 1000

	maxAlternatives = 1000
)

// ReadHTML reads a page of HTML, as the text/html parts of a message give it; see [Message.HTML]. It applies the rules of the
// page's own style sheets and the styles of its elements, as a browser does in a window of 1280 by 800 pixels with scripts
// turned off, pictures and sheets from elsewhere not loaded.
//
// A rule that cannot be judged may reveal text and does not hide any: the text that it would hide counts as seen, and the
// reading is Incomplete. Such rules are those of @container, of @scope with a limit, and under @supports for properties that
// are not known; and those whose selectors ask for :valid and other states that depend on what is filled in, for :checked of
// radio buttons in a group, for :nth-child with "of", for more than 64 different elements before "+" or "~", or for more than
// 31 different :has. Animations are not run, and styles for :hover, :focus, :target and :visited are not applied.
//
// Nor does a style hide that cannot be judged: a function of colors, lengths, shapes or moves that is not known, a filter that changes
// colors, a color like the background's where a shadow, a line around the letters, or a box that is moved under them may show it, and
// what is moved out of sight and back. Text that ::before and ::after generate from strings is part of the text. Letters that a style
// sets from right to left whatever they are, as bdo does, are given in the order in which they are seen.
//
// The options of a select and the content of a closed details element count as seen: a person opens them with a click, and
// mail clients that do not know the elements show what they hold. The latter is Doubtful.
//
// Every input is accepted. Time grows linearly with its size, and all that is allocated stays under four times its size and
// 256 KiB. What is not UTF-8 counts as the U+FFFD that it becomes.
func ReadHTML(source string) HTMLText {
	r := newHTMLReader(source)
	r.read()
	return r.result()
}

// TextFromHTML returns the text of HTML that a person sees: the Text of [ReadHTML].
func TextFromHTML(source string) string { return ReadHTML(source).Text }

// text is what is seen, without the breaks around it, and how many bytes of them stood before it.
func (r *htmlReader) text() (text string, skipped int) {
	all := strings.TrimRight(r.seen.written(), " \n\t")
	text = strings.TrimLeft(all, "\n")
	return text, len(all) - len(text)
}

// result trims the text and makes the places of links fit it.
func (r *htmlReader) result() HTMLText {
	text, skipped := r.text()
	for i := range r.links {
		l := &r.links[i]
		l.Start, l.End = max(0, l.Start-skipped), max(0, l.End-skipped)
		l.End = min(l.End, len(text))
		l.Start = min(l.Start, l.End)
	}
	for i := range r.alternative {
		a := &r.alternative[i]
		a.Start, a.End = max(0, a.Start-skipped), min(max(0, a.End-skipped), len(text))
		a.Start = min(a.Start, a.End)
	}
	return HTMLText{
		Text: text, Hidden: r.hiddenTexts(), Doubtful: string(r.doubtful), Alternative: r.alternative, Links: r.links,
		Incomplete: r.sheet.overfull || r.cascade.doubtful || r.matcher.budget < 0,
	}
}

func (r *htmlReader) hiddenTexts() []HiddenText {
	if len(r.pieces) == 0 {
		return nil
	}
	lost := r.lost.written()
	texts := make([]HiddenText, len(r.pieces))
	for i, p := range r.pieces {
		end := len(lost)
		if i+1 < len(r.pieces) {
			end = r.pieces[i+1].begin
		}
		texts[i] = HiddenText{Text: strings.TrimRight(lost[p.begin:end], "\n"), By: hidings[p.by], Offset: p.offset}
	}
	return slices.Clip(texts)
}
