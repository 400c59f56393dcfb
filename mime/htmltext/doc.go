// Package htmltext reads what a person sees of HTML mail, and what the page hides.
//
// [Read] is the only reader of HTML, so rules, models and people see the same mail. A [Page] has the text that the
// page shows. It also has the hidden text, with its place and the cause. [Text] returns only the visible text.
// [ReadBody] reads both texts of a message, plain and HTML, and reports whether they agree.
//
// # How it works
//
// A scanner cuts the source into tags and texts. A stack holds the open elements. Omitted end tags, tables and
// misnested formatting are handled as the standard requires (WHATWG HTML, section 13.2), so that a style hides
// exactly the text that browsers hide. The style of each element is computed when it is opened: from the browser's
// defaults, its attributes, the page's style sheets, which are read before all else, and its style attribute. There
// is no tree: each text is written as soon as it is read, either to the visible text or to the hidden one.
//
// Only styles that mail uses to hide text count: display, visibility, opacity, sizes of fonts, colors on backgrounds,
// positions, margins and indents, and boxes that clip. Selectors are matched by element, id, class, attribute,
// ancestor, parent, the elements before, and by lists of selectors; the queries of @media by the medium, the size and
// the color scheme of the window. If it is unknown whether a text is visible, as with white text on a picture, it
// counts as visible.
//
// Guarantees:
//   - Every input is accepted. Time grows linearly with its size, however hostile it is, and memory is bounded; see
//     [Read].
//   - All strings of the result are valid UTF-8.
//
// # Limits
//
// What honest mail hardly ever uses is not emulated. Where it applies to text, and could hide it, the text counts as
// visible, and the reading is Incomplete, so that a person is asked:
//   - transform, rotate, scale, translate, zoom, clip, clip-path, mask, filter, mix-blend-mode, contain,
//     content-visibility, background-clip: text, pictures in place of content, displays of two words, and letters in
//     reverse order;
//   - variables, calc and the other functions, colors other than names, #rgb, rgb and hsl, and the words revert and
//     revert-layer;
//   - the rules of @layer, @supports, @container, @scope and of other queries of @media, rules within rules, and
//     ::first-line;
//   - selectors by the place of an element, except :first-child, by its state or by its content.
//
// Text in the color of its background may be visible if it has a shadow or an outline, or a box may be moved behind
// it. Text that ::before and ::after generate, and sheets in data: addresses, are not read, and make the reading
// Incomplete. So does a page for dark windows alone.
//
// # What this package does not do
//
// It does not judge: hidden text is a fact, and many honest messages have some. It loads nothing, runs no scripts,
// and does not look at pictures. It imports no other package of Postroom.
//
// # Standards
//
// WHATWG HTML, and CSS as in today's browsers.
package htmltext
