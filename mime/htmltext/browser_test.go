package htmltext_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// What a browser shows is what is seen, and nothing else is: of every page of these tests.
func TestBrowserSeesTheSame(t *testing.T) {
	costtest.SkipUnderRace(t)
	pages := map[string]string{}
	for name, c := range hiddenTexts {
		pages["hidden: "+name] = c.html + afterHidden
	}
	for name, html := range unreadTexts {
		pages["unread: "+name] = html + afterHidden
	}
	for name, html := range seenTexts {
		pages["seen: "+name] = html
	}
	for page := range seenPages(t) {
		pages["written: "+page] = page
	}
	files, err := filepath.Glob("testdata/pages/*.html")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		pages[file] = string(source)
	}
	shown := showPages(t, pages)
	for name, source := range pages {
		t.Run(name, func(t *testing.T) {
			read := letters(withoutMarks(source))
			if htmltext.Read(source).Incomplete {
				requireWithin(t, letters(shown[name]), read)
				return
			}
			require.Equal(t, letters(shown[name]), read)
		})
	}
}

// requireWithin checks that nothing of what is shown is missing in what was read.
func requireWithin(t *testing.T, shown, read string) {
	t.Helper()
	rest := []rune(read)
	for i, r := range []rune(shown) {
		at := slices.Index(rest, r)
		require.GreaterOrEqual(t, at, 0, "%q, character %d, is not in %q", shown, i, read)
		rest = rest[at+1:]
	}
}

// withoutMarks is the text of a page without what is no text in a browser: pictures' texts, marks of lists, and rules.
func withoutMarks(source string) string {
	source = regexp.MustCompile(`\salt="[^"]*"`).ReplaceAllString(source, "")
	return regexp.MustCompile(`(?m)^ *(-|\d+\.) |^---$`).ReplaceAllString(htmltext.Text(source), "")
}

// letters leaves out blanks and what is drawn as nothing.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}

// showPages returns the text that a headless Chromium shows of each page. Without Chromium the test is skipped,
// except under CI, where it fails.
func showPages(t *testing.T, pages map[string]string) map[string]string {
	t.Helper()
	chromium := browsertest.Chromium(t)
	var names []string
	for name := range pages {
		names = append(names, name)
	}
	slices.Sort(names)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if i, err := strconv.Atoi(strings.Trim(r.URL.Path, "/")); err == nil && i < len(names) {
			fmt.Fprint(w, pages[names[i]])
			return
		}
		fmt.Fprintf(w, lookAtPages, len(names))
	}))
	defer server.Close()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	out, err := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
		"--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--virtual-time-budget=60000", "--dump-dom",
		server.URL).Output()
	require.NoError(t, err)
	_, result, ok := strings.Cut(string(out), "RESULT:")
	require.True(t, ok, "%s", out)
	result, _, _ = strings.Cut(result, ":END")
	result, err = url.QueryUnescape(result)
	require.NoError(t, err)
	var texts []string
	require.NoError(t, json.Unmarshal([]byte(result), &texts))
	require.Len(t, texts, len(names))
	shown := map[string]string{}
	for i, name := range names {
		shown[name] = texts[i]
	}
	return shown
}

// lookAtPages shows each page in a frame in which no scripts run, and writes down the texts that a person could see:
// those with a place on the page that nothing clips away, in a size, an opacity and a color that can be told from the
// background.
const lookAtPages = `<!doctype html><body><script>
const count = %d, frames = [], texts = [];
const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
const rgba = (color) => {
  if (color.startsWith("rgb")) { const v = color.match(/[\d.]+/g).map(Number); return v.length > 3 ? v : [...v, 1]; }
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255];
};
const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
const luminance = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const canvasOf = (view) => {
  const page = view.document, meta = page.querySelector("meta[name=color-scheme]");
  const scheme = view.getComputedStyle(page.documentElement).colorScheme;
  return scheme === "dark" || scheme === "normal" && meta && meta.content === "dark" ? [18, 18, 18, 1] : [255, 255, 255, 1];
};
const background = (e, view) => {
  if (!e) return canvasOf(view);
  const style = view.getComputedStyle(e);
  if (style.backgroundClip.includes("text")) return background(e.parentElement, view);
  if (style.backgroundImage !== "none" || style.boxShadow.includes("inset") || style.backdropFilter !== "none") return null;
  const color = rgba(style.backgroundColor);
  if (color[3] === 1) return color;
  const below = background(e.parentElement, view);
  return below && over(color, below);
};
// under is what is painted within the letters alone, below their color.
const under = (e, below, view) => {
  if (!e || !below) return below;
  const style = view.getComputedStyle(e);
  if (!style.backgroundClip.includes("text")) return rgba(style.backgroundColor)[3] === 1 ? below : under(e.parentElement, below, view);
  return style.backgroundImage !== "none" ? null : over(rgba(style.backgroundColor), below);
};
// isDrawnOtherwise tells of shadows, lines around letters, filters, and places over other boxes.
const isDrawnOtherwise = (e, view) => {
  for (let p = e; p; p = p.parentElement) {
    const s = view.getComputedStyle(p);
    if (s.filter !== "none" || s.mixBlendMode !== "normal" || s.float !== "none") return true;
    if (s.position !== "static" || s.translate !== "none" || s.transform !== "none" || parseFloat(s.marginTop) < 0) return rgba(s.backgroundColor)[3] < 1;
  }
  return false;
};
const lost = (e, style, view) => {
  const below = background(e, view), letters = under(e, below, view);
  if (!letters || isDrawnOtherwise(e, view)) return false;
  const isLost = (color) => {
    const top = over(rgba(color), letters), [a, b] = [luminance(top), luminance(below)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 1.15 && [0, 1, 2].every((i) => Math.abs(top[i] - below[i]) <= 40);
  };
  const shadows = style.textShadow.match(/rgba?\([^)]*\)/g) || [];
  if (parseFloat(style.webkitTextStrokeWidth) > 0) shadows.push(style.webkitTextStrokeColor);
  return [style.webkitTextFillColor, ...shadows].every(isLost);
};
const isClipped = (style) => {
  const edges = style.position !== "absolute" && style.position !== "fixed" ? null : style.clip.match(/^rect\((.*)\)$/);
  if (!edges) return false;
  const [top, right, bottom, left] = edges[1].split(", ").map(parseFloat); // auto is NaN
  return right - left <= 1 || bottom - top <= 1;
};
const isHit = (e, x, y) => e.ownerDocument.elementsFromPoint(x, y).some((hit) => e.contains(hit));
const isSeen = (node, view) => {
  const e = node.parentElement, style = view.getComputedStyle(e);
  if (e.closest("script,style,title,iframe,template,noframes,noembed") || !e.checkVisibility()) return false;
  if (style.visibility !== "visible" || style.contentVisibility === "hidden" && style.display !== "inline" || parseFloat(style.fontSize) <= 1 || lost(e, style, view)) return false;
  const range = node.ownerDocument.createRange();
  range.selectNodeContents(node);
  let boxes = [...range.getClientRects()].map((r) => ({ l: r.left, r: r.right, t: r.top, b: r.bottom })), opacity = 1, absolute = false, fixed = false;
  for (let p = e; p && p !== p.ownerDocument.body; p = p.parentElement) {
    const s = view.getComputedStyle(p), r = p.getBoundingClientRect();
    opacity *= parseFloat(s.opacity) * parseFloat((s.filter.match(/opacity\((.*?)\)/) || [0, 1])[1]);
    const isOut = s.transform === "none" && (absolute && s.position === "static" || fixed); // such a box does not clip
    const cuts = s.overflowX !== "visible" || /paint|strict|content/.test(s.contain);
    if (s.backfaceVisibility === "hidden" && s.transform.startsWith("matrix3d") && parseFloat(s.transform.split(",")[10]) < 0) boxes = [];
    if (!isOut && s.display !== "inline" && cuts)
      boxes = boxes.map((q) => ({ l: Math.max(q.l, r.left), r: Math.min(q.r, r.right), t: Math.max(q.t, r.top), b: Math.min(q.b, r.bottom) }));
    if (isClipped(s)) boxes = [];
    if (s.clipPath !== "none") boxes = boxes.filter((q) => isHit(p, (q.l + q.r) / 2, (q.t + q.b) / 2));
    fixed = (fixed && isOut) || s.position === "fixed";
    absolute = (absolute && isOut) || s.position === "absolute" || s.position === "fixed";
  }
  boxes = boxes.filter((q) => q.r - q.l > 1 && q.b - q.t > 1 && q.r > 0 && q.b > 0 && q.l < 5000);
  return opacity >= 0.1 && boxes.length > 0;
};
// generated is what a style writes before or after what an element holds.
const generated = (e, part, view) => {
  const style = view.getComputedStyle(e, part);
  if (!style.content.includes('"') || style.display === "none" || style.visibility !== "visible" || !e.checkVisibility() || lost(e, style, view)) return "";
  return [...style.content.matchAll(/"([^"]*)"|attr\((\w+)\)/g)].map((m) => m[2] ? e.getAttribute(m[2]) : m[1]).join("");
};
const shownIn = (node, view) => {
  if (node.nodeType === 3) return node.data.trim() && isSeen(node, view) ? node.data : "";
  if (node.nodeType !== 1) return "";
  return generated(node, "::before", view) + [...node.childNodes].map((child) => shownIn(child, view)).join("") + generated(node, "::after", view);
};
for (let i = 0; i < count; i++) {
  const frame = document.createElement("iframe");
  Object.assign(frame, { width: 1280, height: 800, src: "/" + i });
  frame.setAttribute("sandbox", "allow-same-origin");
  frames.push(frame);
  document.body.append(frame);
}
onload = () => {
  for (const frame of frames) {
    texts.push(shownIn(frame.contentDocument.documentElement, frame.contentWindow));
  }
  document.body.textContent = "RESULT:" + encodeURIComponent(JSON.stringify(texts)) + ":END";
};
</script>`
