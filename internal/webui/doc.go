// Package webui has what pages that are rendered on the server share: the headers that protect them, the style and the
// script that keeps them up to date, the hub that streams their changing parts, and texts for people.
//
// A page is complete without JavaScript. The parts of it that change are elements with the attribute data-part and an
// id, in an element with the id "live"; the server sends them as one fragment, and the script replaces those that
// differ.
package webui
