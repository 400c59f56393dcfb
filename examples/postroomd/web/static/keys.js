// Keys for those who do not like the mouse, and times in the zone of the reader. Pages work without this script.
"use strict";
(() => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && document.documentElement.dataset.zone !== zone && !document.cookie.includes("zone=" + zone)) {
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
    if (target.matches("input:not([type=checkbox])")) target.focus(); else target.click();
    return true;
  }

  // r in a row ticks it, and goes to the reason.
  function reject() {
    const tick = row()?.querySelector("[data-key=x]");
    if (tick && !first("[data-row] :checked")) tick.checked = true;
    if (!press("r")) press("a");
  }

  const keys = {
    j: () => move(1),
    k: () => move(-1),
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
    const page = Date.now() < going && first(`[data-go="${CSS.escape(event.key)}"]`);
    going = 0;
    const act = page ? () => page.click() : keys[event.key];
    if (act) act(); else if (!/^[a-z/]$/.test(event.key) || !press(event.key)) return;
    event.preventDefault();
  });
})();
