// Keeps the page up to date: the server sends the changing part of it, and what differs is replaced. Without this script
// pages are as they were when they were loaded.
"use strict";
(() => {
  const live = document.getElementById("live");
  const toggle = document.getElementById("live-toggle");
  if (!live.dataset.events || !toggle) return;

  let source = null;
  let timer = 0;
  let wanted = true;
  const shown = new Map(); // what the server last said of each part

  // The button says how it stands, and to those who do not see it also what it does.
  function say(state) {
    if (toggle.dataset.state === state) return;
    toggle.dataset.state = state;
    const hint = document.createElement("span");
    hint.className = "unseen";
    hint.textContent = wanted ? ": stop updating" : ": go on updating";
    toggle.replaceChildren(state, hint);
  }

  function start() {
    clearTimeout(timer);
    if (source || !wanted || document.hidden) return;
    source = new EventSource(live.dataset.events);
    source.addEventListener("open", () => say("Live"));
    source.addEventListener("fragment", (event) => { say("Live"); update(event.data); });
    source.addEventListener("stale", () => say("Out of date"));
    source.addEventListener("error", () => {
      say("Offline");
      if (source && source.readyState === EventSource.CLOSED) { // refused; the browser does not try again
        stop();
        timer = setTimeout(start, 10000);
      }
    });
  }

  function stop() {
    clearTimeout(timer);
    if (source) source.close();
    source = null;
  }

  // A part that somebody marks text, ticks or types in stays as it is until they are done; one with the attribute
  // data-hold also while the pointer is on it, since rows must not move below it.
  function busy(part) {
    if (part.querySelector("[data-row] :checked") || part.matches("[data-hold]:hover")) return true;
    const selection = getSelection();
    const marked = selection && !selection.isCollapsed && part.contains(selection.anchorNode);
    return marked || (part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea"));
  }

  function replace(old, part) {
    const open = [...old.querySelectorAll("details[open][id]")].map((d) => d.id);
    const scrolled = [...old.querySelectorAll(".scroll[id]")].map((s) => [s.id, s.scrollLeft]);
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    const path = focused && !focused.id ? focused.closest("details[id]") : null;
    document.getElementById("news")?.remove();
    old.replaceWith(part);
    for (const id of open) { const d = document.getElementById(id); if (d) d.open = true; }
    for (const [id, left] of scrolled) { const s = document.getElementById(id); if (s) s.scrollLeft = left; }
    if (!focused) return;
    let again = focused.id && document.getElementById(focused.id);
    if (path) again = document.querySelector("#" + CSS.escape(path.id) + " > summary");
    if (!again && focused.href) again = [...part.querySelectorAll("a")].find((a) => a.href === focused.href);
    if (again) again.focus({ preventScroll: true });
  }

  // The rows of a part, by what they lead to. Lists have the newest first.
  const rows = (part) => [...part.querySelectorAll("[data-row]")].map((r) => r.querySelector("a")?.getAttribute("href"));

  // What is held back is one click away.
  function news(old, part) {
    let button = document.getElementById("news");
    if (!button) {
      button = document.createElement("button");
      button.id = "news";
    }
    const had = rows(old), now = rows(part), known = now.findIndex((r) => had.includes(r));
    const more = known < 0 ? now.length : known;
    button.textContent = more ? more + " new: show the list" : "The list has changed: show it";
    old.before(button);
    button.onclick = () => { button.remove(); replace(old, part); shown.set(part.id, part.outerHTML); };
  }

  function update(html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    const parts = [...template.content.querySelectorAll("[data-part]")];
    const ids = new Set(parts.map((p) => p.id));
    for (const old of [...live.querySelectorAll("[data-part]")]) if (!ids.has(old.id)) old.remove();
    let before = null;
    for (const part of parts) {
      const text = part.outerHTML;
      const old = document.getElementById(part.id);
      const differs = old && (shown.get(part.id) ?? old.outerHTML) !== text;
      if (!old) {
        if (before) before.after(part); else live.append(part);
      } else if (differs && !busy(old)) {
        replace(old, part);
      } else if (differs && old.matches("[data-hold]")) {
        news(old, part);
        before = old;
        continue;
      } else {
        before = old;
        continue;
      }
      shown.set(part.id, text);
      before = part;
    }
  }

  say("Live");
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    wanted = !wanted;
    say(wanted ? "Live" : "Paused");
    if (wanted) start(); else stop();
  });
  document.addEventListener("visibilitychange", () => { if (document.hidden) stop(); else start(); });
  addEventListener("pagehide", stop);
  addEventListener("pageshow", start);
})();
