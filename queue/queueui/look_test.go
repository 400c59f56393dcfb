package queueui_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every page, wide and narrow, light and dark: nothing is wider than the page, and nothing is refused.
func TestPagesFitAndFollowTheColourScheme(t *testing.T) {
	b := browse(t)
	s := newSite(t, nil)
	rich := s.populate()
	pages := [][2]string{
		{"overview", ""}, {"jobs", "jobs"}, {"failed", "jobs?state=failed"}, {"job", "jobs/" + rich},
		{"none", "jobs?state=running"}, {"problem", "jobs/none"},
	}
	for _, page := range pages {
		name, path := page[0], page[1]
		for _, width := range []int64{1280, 375} {
			for _, scheme := range []string{"light", "dark"} {
				b.size(width, 900)
				b.scheme(scheme)
				b.open(s.url + path)
				require.LessOrEqual(t, eval[int64](b, "document.documentElement.scrollWidth"), width, "%s at %d", name,
					width)
				ground := eval[string](b, "getComputedStyle(document.body).backgroundColor")
				require.Equal(t, map[string]string{"light": "rgb(251, 251, 250)", "dark": "rgb(20, 22, 26)"}[scheme],
					ground)
				require.Empty(t, eval[[]string](b, pale),
					"%s, %s: text with less than the contrast that WCAG AA asks for", name, scheme)
				b.picture(name + "-" + scheme + map[int64]string{1280: "", 375: "-phone"}[width])
			}
		}
		if name != "problem" { // the console reports that
			b.quiet()
		}
	}
}

// pale lists the text in the page whose contrast with its ground is less than 4.5.
const pale = `(() => {
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return context.getImageData(0, 0, 1, 1).data;
  };
  const luminance = (color) => {
    const [r, g, b] = [...rgba(color)].slice(0, 3).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    while (e && rgba(getComputedStyle(e).backgroundColor)[3] < 255) e = e.parentElement;
    return getComputedStyle(e || document.body).backgroundColor;
  };
  const found = [];
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility()) continue;
    const [a, b] = [luminance(getComputedStyle(e).color), luminance(ground(e))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.push(e.outerHTML.slice(0, 80) + " " + contrast.toFixed(2));
  }
  return found;
})()`
