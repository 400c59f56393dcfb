// Keys for those who do not like the mouse, times in the zone of the reader, and words of a search. Pages work without this script.
"use strict";
(() => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const shown = document.documentElement.dataset.zone; // not on pages that are in no zone
  if (zone && shown && shown !== zone && !document.cookie.includes("zone=" + zone)) {
    document.cookie = "zone=" + zone + "; path=/; SameSite=Strict; max-age=31536000";
    if (document.cookie.includes("zone=" + zone)) location.reload(); // the server formats times
  }

  const dialog = document.getElementById("keys");
  const opener = document.getElementById("keys-open");
  const on = document.getElementById("keys-on");
  on.checked = localStorage.getItem("keys") !== "off";
  on.addEventListener("change", () => localStorage.setItem("keys", on.checked ? "on" : "off"));
  opener.hidden = false;
  opener.addEventListener("click", () => dialog.showModal());

  // Browsers complete all that is typed; this completes its last word.
  for (const input of document.querySelectorAll("[data-words]")) {
    const options = [...input.list.options];
    const words = options.map((option) => option.value);
    input.addEventListener("input", () => {
      const before = input.value.replace(/\S*$/, "");
      options.forEach((option, i) => { option.value = before + words[i]; });
    });
  }

  const first = (selector) => document.querySelector(selector);
  let going = 0; // until when a letter after g is the name of a page

  // The row that keys are about is that of the focus; j and k move it.
  const row = () => document.activeElement?.closest("[data-row]");
  function move(step) {
    const rows = [...document.querySelectorAll("[data-row]")];
    if (!rows.length) return;
    const to = rows.indexOf(row()) + step;
    const next = rows[row() ? Math.max(0, Math.min(rows.length - 1, to)) : 0];
    next.querySelector("a").focus();
    next.scrollIntoView({ block: "nearest" });
  }

  // press does what the key stands for: with what is ticked, in the row, or else on the page.
  function press(key) {
    const bulk = first("[data-row] :checked") && first(`#bulk [data-bulk="${key}"]`);
    const target = bulk || row()?.querySelector(`[data-key="${key}"]`) || first(`[data-key="${key}"]:not([data-row] *)`);
    if (!target) return false;
    const asks = target.matches("input:not([type=checkbox]), [data-asks]"); // Enter goes on
    if (asks) target.focus(); else target.click();
    return true;
  }

  // r in a row ticks it, and goes to the reason. What is answered alone has its reason on its own page.
  function reject() {
    const ticked = first("[data-row] :checked");
    const alone = row()?.querySelector("a[data-key=a]");
    if (alone && !ticked) {
      leaving = true;
      location.href = alone.href + "#why";
      return;
    }
    const tick = row()?.querySelector("[data-key=x]");
    if (tick && !ticked) tick.checked = true;
    press("r");
  }
  let leaving = false; // what is typed meanwhile is the reason, and no keys
  addEventListener("pageshow", () => { leaving = false; });
  if (location.hash === "#why") document.getElementById("why")?.focus();

  const keys = {
    j: () => move(1),
    k: () => move(-1),
    o: () => row()?.querySelector("a").click(),
    r: reject,
    "?": () => dialog.showModal(),
    g: () => { going = Date.now() + 1500; },
    S: () => { const go = first("#stopped"); if (go) first("#resume")?.focus(); else first("#stop")?.click(); },
    Escape: () => document.activeElement?.blur(),
  };

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || event.defaultPrevented) return;
    if (event.target.matches("input:not([type=checkbox]), select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (!on.checked) return;
    if (leaving || event.repeat && !/^[jk]$/.test(event.key)) { // a key that is held acts once
      event.preventDefault();
      return;
    }
    const page = Date.now() < going && first(`[data-go="${CSS.escape(event.key)}"]`);
    going = 0;
    const act = page ? () => page.click() : keys[event.key];
    if (act) act(); else if (!/^[a-z/]$/.test(event.key) || !press(event.key)) return;
    event.preventDefault();
  });
})();
