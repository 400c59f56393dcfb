package browsertest

import (
	_ "embed"

	"github.com/stretchr/testify/require"
)

// axe is axe-core 4.14.1, as the npm registry has it. Its licence, MPL 2.0, is beside it.
//
//go:embed testdata/axe-core/axe.min.js
var axe string

// Accessible checks that a page keeps the rules of WCAG 2.2, levels A and AA, that axe-core can test.
func (b *Browser) Accessible(name string) {
	b.Helper()
	require.Empty(b, b.inaccessible(), name)
}

func (b *Browser) inaccessible() []string {
	b.Helper()
	if Eval[bool](b, "!window.axe") { // reading it takes most of the time that it works on a page
		Eval[any](b, axe+"; undefined")
	}
	Eval[any](b, `window.axeFound = undefined; axe.run(document, { runOnly: { type: "tag", values: ["wcag2a",
  "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }, resultTypes: ["violations"], selectors: false }).then((r) => {
    window.axeFound = r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 160) + " " +
      n.failureSummary.split("\n").slice(1).join(" ").slice(0, 200)));
  }, (e) => { window.axeFound = [String(e)]; }); undefined`)
	b.Until("window.axeFound !== undefined")
	return Eval[[]string](b, "window.axeFound")
}

// Crooked is an expression that lists what is wider than the window, cut, or above something else.
const Crooked = `(() => {
  const found = [];
  const say = (what, e) => found.push(what + ": " + e.outerHTML.replace(/\s+/g, " ").slice(0, 140));
  if (document.documentElement.scrollWidth > innerWidth) say("the page is wider than the window", document.body);
  // What is clipped to nothing is for screen readers.
  const clipped = (e) => e && (getComputedStyle(e).clipPath === "inset(50%)" || clipped(e.parentElement));
  const hidden = (e) => !e.checkVisibility({ visibilityProperty: true }) || clipped(e) ||
    e.closest(".skip, dialog:not([open])");
  const scrolled = (e) => {
    for (let p = e.parentElement; p; p = p.parentElement) {
      if (/auto|scroll/.test(getComputedStyle(p).overflowX + getComputedStyle(p).overflowY)) return true;
    }
    return false;
  };
  const boxes = [];
  for (const e of document.body.querySelectorAll("*")) {
    if (hidden(e) || e.closest("svg") || e.tagName === "OPTION") continue;
    const texts = [...e.childNodes].filter((n) => n.nodeType === 3 && n.data.trim());
    const control = e.matches("button, input:not([type=hidden]), select, textarea, .button");
    if (!texts.length && !control) continue;
    const style = getComputedStyle(e);
    const clips = (/hidden|clip/.test(style.overflowX) && e.scrollWidth > e.clientWidth + 1) ||
      (e.matches("button, .button, select, dd, dt") && style.display !== "inline" && style.overflowX === "visible" &&
        e.scrollWidth > e.clientWidth + 1);
    if (clips && !e.matches("input, textarea")) say("cut", e);
    const rects = control ? [e.getBoundingClientRect()] : texts.flatMap((n) => {
      const range = document.createRange();
      range.selectNodeContents(n);
      return [...range.getClientRects()];
    });
    for (const r of rects) {
      if (r.width < 1 || r.height < 1) continue;
      if (!scrolled(e) && (r.right > innerWidth + 1 || r.left < -1)) say("beyond the window", e);
      boxes.push([e, r]);
    }
  }
  for (let i = 0; i < boxes.length; i++) {
    for (let j = i + 1; j < boxes.length; j++) {
      const [a, p] = boxes[i], [b, q] = boxes[j];
      const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (wide <= 2 || high <= 4 || a === b || a.contains(b) || b.contains(a) || scrolled(a) || scrolled(b)) continue;
      const above = (e) => /sticky|fixed/.test(getComputedStyle(e.closest("form, section, div") || e).position);
      if (above(a) || above(b)) continue;
      say("overlaps " + (b.textContent || b.tagName).trim().slice(0, 40), a);
    }
  }
  return [...new Set(found)].slice(0, 10);
})()`
