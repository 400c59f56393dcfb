// Shows what a rule finds while it is written. Without this script the button Preview does.
"use strict";
(() => {
  const form = document.querySelector("form[data-preview]");
  const box = document.getElementById("preview");
  if (!form) return;
  let asked = null; // the question that is not answered in full yet
  let timer = 0;

  function show(html) {
    const name = box.contains(document.activeElement) && document.activeElement.name;
    box.innerHTML = html;
    if (name) box.querySelector(`[name="${CSS.escape(name)}"]:checked`)?.focus();
  }

  async function ask() {
    asked = new AbortController();
    const { signal } = asked;
    const query = new URLSearchParams(new FormData(form));
    query.set("part", "1");
    try {
      const answer = await fetch(form.dataset.preview + "?" + query, { signal });
      if (!answer.ok) throw new Error(answer.statusText);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = "";;) {
        const { done, value } = await reader.read();
        if (done) return;
        const parts = (text + value).split("\0"); // one after the other, each in place of the last
        text = parts.pop();
        if (parts.length) show(parts.pop());
      }
    } catch (error) {
      if (!signal.aborted) box.textContent = "There is no preview now: " + error.message;
    }
  }

  function stop() {
    clearTimeout(timer);
    if (asked) asked.abort(); // the server ends its work
  }

  // Another kind takes other fields: the server says which. What was typed stays, and so does the focus.
  async function refit(name) {
    const answer = await fetch(form.dataset.preview + "?" + new URLSearchParams(new FormData(form)));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const rule = page.getElementById("rule");
    if (!rule) return; // Update says why
    document.getElementById("rule").replaceWith(rule);
    form.elements[name]?.focus();
    ask();
  }

  form.addEventListener("change", (event) => {
    if (!event.target.name.startsWith("type ")) return;
    stop();
    refit(event.target.name);
  });
  form.addEventListener("input", () => { stop(); timer = setTimeout(ask, 120); });
  addEventListener("pagehide", stop);
  addEventListener("pageshow", ask);
})();
