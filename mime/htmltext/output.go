package htmltext

import (
	"slices"
	"strings"
)

// An output collects what is read of a page: the visible and the hidden texts, and the links.
type output struct {
	seen, lost textWriter
	doubtful   []byte

	alternative []Span
	links       []Link
	textless    []int // open links without a text so far
	pieces      []hiddenPiece
	pieceOpen   bool // the last piece goes on

	incomplete bool // a visible text may be hidden
	lostOnPage bool // a text was hidden by the color of what is behind it
	overlaps   bool // see styler
}

type hiddenPiece struct {
	by            hiding
	offset, begin int
}

func newOutput(length int) output {
	o := output{seen: newTextWriter(length/4 + 64), lost: newTextWriter(0)}
	o.seen.expected, o.lost.expected = length, length
	o.seen.room = length/8 + 256
	return o
}

// flow writes a text to the visible or the hidden text.
func (o *output) flow(text string, style *textStyle, at int) {
	if why := style.why; why != notHidden {
		isOnPage := why == hiddenByColor && !style.onMoved
		switch {
		case isOnPage && o.overlaps:
			o.incomplete = o.incomplete || !isBlankText(text)
		case o.hide(why, text, at):
			o.lostOnPage = o.lostOnPage || isOnPage
			return
		}
	}
	if style.boxed == hiddenByDisplay || style.boxed == hiddenByElement {
		return
	}
	if style.unsure && !o.incomplete {
		o.incomplete = !isBlankText(text)
	}
	length := o.seen.out.Len()
	o.seen.text(text, style.keep)
	if o.seen.out.Len() > length {
		o.pieceOpen = false
		o.markLinks(length)
		if style.isDoubtful() && len(o.doubtful) < maxRemoved {
			o.doubtful = append(append(o.doubtful, o.seen.out.String()[length:]...), ' ')
		}
	}
	if len(o.seen.removed) > 0 {
		if style.why == notHidden {
			o.hideCharacters(at)
		}
		o.seen.removed = o.seen.removed[:0]
	}
}

// startLink begins a link, and returns 1 + its place among the links; 0 if there are too many.
func (o *output) startLink(url string) int {
	if len(o.links) == maxPageLinks {
		return 0
	}
	if o.links == nil {
		o.links = make([]Link, 0, 8)
	}
	o.links = append(o.links, Link{URL: url, Start: -1})
	o.textless = append(o.textless, len(o.links))
	return len(o.links)
}

// markLinks sets the start of links whose text begins with the text written since length.
func (o *output) markLinks(length int) {
	if len(o.textless) == 0 {
		return
	}
	begin := o.seen.out.Len() - len(strings.TrimLeft(o.seen.out.String()[length:], " \n"))
	for _, n := range o.textless {
		o.links[n-1].Start = begin
	}
	o.textless = o.textless[:0]
}

// endLink ends the link with the number n.
func (o *output) endLink(n int) {
	l := &o.links[n-1]
	if l.End = o.seen.out.Len(); l.Start < 0 {
		l.Start = l.End
		o.textless = slices.DeleteFunc(o.textless, func(other int) bool { return other == n })
	}
}

// hide stores a hidden text. It reports whether there is any.
func (o *output) hide(by hiding, text string, at int) bool {
	if isBlankText(text) {
		if o.pieceOpen {
			o.lost.blank = true
		}
		return false
	}
	o.openPiece(by, at)
	o.lost.text(text, wordNone)
	o.lost.removed = o.lost.removed[:0]
	return true
}

// openPiece begins a piece of hidden text, unless the last one continues: it has the same reason, and no visible text
// came since.
func (o *output) openPiece(by hiding, at int) {
	last := len(o.pieces) - 1
	if last >= 0 && (o.pieceOpen && o.pieces[last].by == by || last+1 == maxHidden) {
		o.pieceOpen = true
		return
	}
	o.lost.restart()
	o.pieces = append(o.pieces, hiddenPiece{by: by, offset: at, begin: o.lost.out.Len()})
	o.pieceOpen = true
}

// hideCharacters stores the characters that were left out of a visible text. Those of consecutive texts are joined.
func (o *output) hideCharacters(at int) {
	if last := len(o.pieces) - 1; last < 0 || o.pieces[last].by != hiddenByCharacter {
		o.pieceOpen = false
		o.openPiece(hiddenByCharacter, at)
	}
	if o.lost.out.Len()-o.lost.begin < maxRemoved {
		o.lost.write(string(o.seen.removed))
	}
	o.pieceOpen = false
}

// comment stores the text of a comment. The halves of a condition that excludes only Outlook have none.
func (o *output) comment(text string, at int) {
	inner := strings.TrimLeft(text, " \t\r\n")
	by := hiddenByComment
	if strings.HasPrefix(inner, "[if ") {
		_, inner, _ = strings.Cut(inner, "]>")
		inner = strings.TrimSuffix(strings.TrimRight(inner, " \t\r\n"), "<![endif]")
		by = hiddenByCondition
	}
	if inner == "" || inner == "<!" || inner == "[endif]" || inner == "<![endif]" {
		return
	}
	o.pieceOpen = false
	o.hide(by, inner, at+len("<!--"))
	o.pieceOpen = false
}

// breakLine ends the line, as a block or a br element does.
func (o *output) breakLine(n int) {
	o.seen.lineBreak(n)
	if o.pieceOpen {
		o.lost.lineBreak(n)
	}
}

// markAlternative notes the position of a picture's text that was written since length.
func (o *output) markAlternative(length int) {
	end := o.seen.out.Len()
	if end == length {
		return
	}
	if len(o.alternative) == maxAlternatives {
		o.incomplete = true
		return
	}
	begin := end - len(strings.TrimLeft(o.seen.out.String()[length:], " \n"))
	o.alternative = append(o.alternative, Span{begin, end})
}

// text returns the visible text, without the breaks around it, and the number of bytes of the leading breaks.
func (o *output) text() (text string, skipped int) {
	all := strings.TrimRight(o.seen.written(), " \n\t")
	text = strings.TrimLeft(all, "\n")
	return text, len(all) - len(text)
}

// page trims the text and adjusts the positions of links.
func (o *output) page() Page {
	text, skipped := o.text()
	for i := range o.links {
		l := &o.links[i]
		l.Start, l.End = max(0, l.Start-skipped), max(0, l.End-skipped)
		l.End = min(l.End, len(text))
		l.Start = min(l.Start, l.End)
	}
	for i := range o.alternative {
		a := &o.alternative[i]
		a.Start, a.End = max(0, a.Start-skipped), min(max(0, a.End-skipped), len(text))
		a.Start = min(a.Start, a.End)
	}
	return Page{
		Text: text, Hidden: o.hiddenTexts(), Doubtful: string(o.doubtful), Alternative: o.alternative, Links: o.links,
		Incomplete: o.incomplete,
	}
}

func (o *output) hiddenTexts() []HiddenText {
	if len(o.pieces) == 0 {
		return nil
	}
	lost := o.lost.written()
	texts := make([]HiddenText, len(o.pieces))
	for i, p := range o.pieces {
		end := len(lost)
		if i+1 < len(o.pieces) {
			end = o.pieces[i+1].begin
		}
		texts[i] = HiddenText{Text: strings.TrimRight(lost[p.begin:end], "\n"), By: hidings[p.by], Offset: p.offset}
	}
	return slices.Clip(texts)
}
