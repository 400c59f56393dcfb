package htmltext

import "strings"

// Browsers read a page without a doctype in quirks mode (WHATWG HTML, section 15.3). Mail clients put a mail into a page
// of their own, mostly in standards mode. A page that uses what differs is read in both modes.

// dependsOnMode reports whether the page has styles that say something else in standards mode.
func (st *styler) dependsOnMode() bool { return st.quirky || st.sheet.quirky || st.matcher.quirky }

// eitherMode returns the reading of a page that has been read in both modes: the one that shows more. What the other
// does not show is doubtful, and the reading is Incomplete.
func eitherMode(quirks, standards Page) Page {
	more, less := quirks, standards
	if len(standards.Text) > len(quirks.Text) {
		more, less = standards, quirks
	}
	lost := lostWords(more.Text, less.Text)
	back := lostWords(less.Text, more.Text)
	if lost == "" && back == "" {
		return quirks
	}
	more.Doubtful += lost + back
	more.Incomplete = true
	return more
}

// lostWords returns the words of a text that occur more often in it than in another, up to about 4 KiB.
func lostWords(text, other string) string {
	count := map[string]int{}
	for word := range strings.FieldsSeq(other) {
		count[word]++
	}
	var lost strings.Builder
	for word := range strings.FieldsSeq(text) {
		if count[word]--; count[word] < 0 && lost.Len() < maxRemoved {
			lost.WriteString(word + " ")
		}
	}
	return lost.String()
}
