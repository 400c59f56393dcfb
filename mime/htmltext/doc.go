// Package htmltext reads what a person sees of HTML mail, and what the page hides.
//
// [Read] is the only reader of HTML, so rules, models and people see the same mail. A [Page] has the text that the page shows. It
// also has the hidden text, with its place and the cause. [Text] returns only the visible text. [ReadBody] reads both texts of a
// message, plain and HTML, and reports whether they agree.
//
// # How it works
//
// A scanner cuts the source into tags and texts. A stack holds the open elements. Omitted end tags, tables and misnested
// formatting are handled as the standard requires (WHATWG HTML, section 13.2), so that a style hides exactly the text that
// browsers hide. The style of each element is computed when it is opened: from the browser's defaults, its attributes, the page's
// style sheets, which are read before all else, and its style attribute. There is no tree: each text is written as soon as it is
// read, either to the visible text or to the hidden one.
//
// Only styles that can hide text count: display, visibility, opacity, sizes of fonts, colors on backgrounds, positions, margins
// and indents, boxes that clip, transforms, filters and shadows. Selectors are matched by element, id, class, attribute,
// ancestor, parent and the element before. Further conditions of a selector, such as :last-child, can reveal text but not hide
// it. If it is unknown whether a text is visible, as with white text on a picture, it counts as visible.
//
// Guarantees:
//   - Every input is accepted. Time grows linearly with its size, however hostile it is, and memory is bounded; see [Read].
//   - All strings of the result are valid UTF-8.
//
// # What this package does not do
//
// It does not judge: hidden text is a fact, and many honest messages have some. It loads nothing, runs no scripts, and does not
// look at pictures. It imports no other package of Postroom.
//
// # Standards
//
// WHATWG HTML, and CSS as in today's browsers.
package htmltext
