"use strict";
/* Draws charts when they come into view, and makes tables that sort, filter and turn pages. */
(() => {
  const PAGE = 12;
  const LONG = 44; /* characters of a cell that may be broken into lines */
  const NOTHING = "–";
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const make = (name, attributes = {}, text = "") => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return element;
  };

  /* Thousands in groups, and a minus as long as a plus; figures have the same. */
  const typeset = (digits) => {
    const [whole, ...rest] = digits.split(".");
    return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".").replaceAll("-", "−");
  };
  const rounded = (value) => {
    const size = Math.abs(value);
    if (Number.isInteger(value)) return String(value);
    return size < 1e-4 || size >= 1e7 ? value.toExponential(3) : String(Number(value.toPrecision(5)));
  };

  /* Numbers as people read them; the text of a file is never taken for HTML. */
  const shown = (value, column) => {
    if (value === null || value === "") return NOTHING;
    if (typeof value === "boolean") return value ? "yes" : "no";
    const told = typeof value === "number" ? rounded(value) : String(value);
    if (!column.number || column.name === "seed") return told; /* a seed is to be copied */
    if (typeof value === "number" || /^-?\d+$/.test(told)) return typeset(told);
    return told.replace(/(^|[\s([])-(?=[\d.∞])/g, "$1−");
  };

  /* What a cell is sorted by: intervals and "≥ 3" by their first number, nothing last. */
  const key = (value) => {
    if (typeof value === "number") return value;
    if (value === null || value === "") return NaN;
    const plain = String(value).replace("−", "-");
    if (plain.startsWith("∞")) return Infinity;
    if (plain.startsWith("-∞")) return -Infinity;
    const found = plain.match(/-?\d+(\.\d+)?(e[+-]?\d+)?(\/\d+)?/i);
    if (!found) return NaN;
    const [top, bottom] = found[0].split("/");
    return bottom ? Number(top) / Number(bottom) : Number(top);
  };
  const compared = (column) => (a, b) => {
    if (!column.number) return String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true });
    const [x, y] = [key(a), key(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    return x === y ? 0 : x < y ? -1 : 1;
  };

  /* One may type a number as it is seen, or as it is in the file. */
  const isFound = (cell, column, word) =>
    [shown(cell, column), String(cell ?? "")].some((told) => told.toLowerCase().includes(word));

  const fill = (place, page) => {
    const { columns, rows } = read(place.dataset.rows);
    const label = place.dataset.label;
    let chosen = rows, sorted = -1, direction = 1, start = 0;
    const tools = make("div", { class: "tools" });
    const wish = make("input", { type: "search", autocomplete: "off", spellcheck: "false" });
    const caption = make("label", {}, "Filter");
    const count = make("output", { "aria-live": "polite" });
    const back = make("button", { type: "button" }, "Previous");
    const next = make("button", { type: "button" }, "Next");
    back.setAttribute("aria-label", `Previous rows of ${label}`);
    next.setAttribute("aria-label", `Next rows of ${label}`);
    caption.append(wish);
    if (rows.length > 5) tools.append(caption);
    tools.append(count);
    if (rows.length > page) tools.append(back, next);
    const scroll = make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label });
    const table = make("table", { class: "rows" });
    table.append(make("caption", {}, label));
    const head = make("tr"), body = make("tbody");
    columns.forEach((column, k) => {
      const cell = make("th", { scope: "col", "aria-sort": "none" });
      if (column.number) cell.className = "number";
      const button = make("button", { type: "button" }, column.label);
      button.addEventListener("click", () => {
        direction = sorted === k ? -direction : 1;
        sorted = k;
        for (const other of head.children) other.setAttribute("aria-sort", "none");
        cell.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
        start = 0;
        show();
      });
      cell.append(button);
      head.append(cell);
    });
    const top = make("thead");
    top.append(head);
    table.append(top, body);
    scroll.append(table);

    const show = () => {
      const word = wish.value.trim().toLowerCase();
      chosen = word ? rows.filter((row) => row.some((cell, k) => isFound(cell, columns[k], word))) : [...rows];
      if (sorted >= 0) {
        const compare = compared(columns[sorted]);
        const isEmpty = (cell) => cell === null || cell === "";
        chosen.sort((a, b) => {
          const [x, y] = [a[sorted], b[sorted]];
          return isEmpty(x) || isEmpty(y) ? isEmpty(x) - isEmpty(y) : direction * compare(x, y);
        });
      }
      start = Math.min(start, Math.max(0, chosen.length - 1));
      start -= start % page;
      const end = Math.min(start + page, chosen.length);
      body.replaceChildren(...chosen.slice(start, end).map((row) => {
        const line = make("tr");
        row.forEach((cell, k) => {
          const words = shown(cell, columns[k]);
          const kind = columns[k].number ? "number" : words.length > LONG ? "long" : "short";
          line.append(make("td", { class: kind }, words));
        });
        return line;
      }));
      const [there, kept, from, to] = [rows.length, chosen.length, start + 1, end].map((n) => typeset(String(n)));
      const all = kept === there ? there : `${kept} (of ${there})`;
      const noun = rows.length === 1 ? "row" : "rows";
      count.textContent = chosen.length > page ? `rows ${from} to ${to} of ${all}` : `${all} ${noun}`;
      back.disabled = start === 0;
      next.disabled = end >= chosen.length;
    };
    wish.addEventListener("input", () => { start = 0; show(); });
    back.addEventListener("click", () => { start -= page; show(); });
    next.addEventListener("click", () => { start += page; show(); });
    place.replaceChildren(tools, scroll);
    show();
  };

  const objects = ({ columns, rows }) =>
    rows.map((row) => Object.fromEntries(row.map((cell, k) => [columns[k].name, cell])));
  const ink = "var(--ink-soft)", faint = "var(--line)";
  const look = {
    background: null,
    font: "system-ui, sans-serif",
    axis: { labelColor: ink, titleColor: ink, tickColor: faint, domainColor: faint, gridColor: faint,
            labelFontSize: 11, titleFontSize: 12, titleFontWeight: 500, titlePadding: 8, labelOverlap: true,
            labelSeparation: 4,
            gridOpacity: 0.6 },
    legend: { labelColor: ink, titleColor: ink, orient: "bottom", labelFontSize: 12, titleFontSize: 12,
              titleFontWeight: 500, labelLimit: 190, rowPadding: 3, columnPadding: 14, symbolOpacity: 1 },
    view: { stroke: null },
  };

  /* What stands in a tooltip, which is HTML. */
  const hovered = (value) =>
    (typeof value === "number" ? typeset(rounded(value)) : String(value))
      .replaceAll("&", "&amp;").replaceAll("<", "&lt;");

  const views = new Map();
  const draw = (place) => {
    if (!views.has(place)) views.set(place, drawn(place));
    return views.get(place);
  };
  const drawn = async (place) => {
    place.setAttribute("aria-busy", "true");
    const spec = read(place.dataset.spec);
    const datasets = {};
    for (const [name, id] of Object.entries(JSON.parse(place.dataset.sets))) datasets[name] = objects(read(id));
    const width = place.clientWidth;
    const ratio = spec.usermeta?.ratio;
    if (ratio) spec.height = Math.min(Math.max((width - 70) * ratio, 80), 1.5 * (width - 70), 900);
    const config = structuredClone(look);
    config.legend.columns = Math.max(1, Math.floor(width / 200));
    const result = await vegaEmbed(place, { ...spec, datasets, config, description: place.dataset.label,
      autosize: { type: "fit-x", contains: "padding" } },
      { mode: "vega-lite", renderer: "svg", actions: false, ast: true,
        tooltip: { theme: "custom", disableDefaultStyle: true, sanitize: hovered } });
    place.removeAttribute("aria-busy");
    place.dataset.drawn = "yes";
    /* The table below says the same; the marks one by one would only be noise to a screen reader. */
    const svg = place.querySelector("svg");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", place.dataset.label);
    svg.removeAttribute("aria-roledescription");
    for (const mark of svg.querySelectorAll("[aria-roledescription], [role]")) {
      for (const name of ["role", "aria-roledescription", "aria-label"]) mark.removeAttribute(name);
    }
    for (const part of svg.children) part.setAttribute("aria-hidden", "true");
    return result.view;
  };

  const begin = () => {
    const theme = document.getElementById("theme");
    const asked = matchMedia("(prefers-color-scheme: dark)");
    let isDark = asked.matches;
    const dress = () => theme.setAttribute("aria-checked", String(isDark));
    theme.addEventListener("click", () => {
      isDark = !isDark;
      document.documentElement.style.colorScheme = isDark ? "dark" : "light";
      dress();
    });
    asked.addEventListener("change", (event) => {
      if (!document.documentElement.style.colorScheme) { isDark = event.matches; dress(); }
    });
    dress();
    theme.hidden = false;

    for (const place of document.querySelectorAll("[data-rows]")) {
      const box = place.closest("details");
      if (box && !box.open) box.addEventListener("toggle", () => place.firstChild || fill(place, PAGE));
      else fill(place, PAGE);
    }
    const plots = [...document.querySelectorAll(".plot")];
    const watch = new IntersectionObserver((seen) => {
      for (const { isIntersecting, target } of seen) {
        if (isIntersecting) { watch.unobserve(target); draw(target); }
      }
    }, { rootMargin: "800px" });
    plots.forEach((plot) => watch.observe(plot));
    for (const control of document.querySelectorAll("[data-signal]")) {
      const plot = document.getElementById(control.getAttribute("aria-controls"));
      const tell = async (value) => (await draw(plot)).signal(control.dataset.signal, value).runAsync();
      if (control.tagName === "SELECT") control.addEventListener("change", () => tell(Number(control.value)));
      else control.addEventListener("click", () => {
        const isOn = control.getAttribute("aria-checked") !== "true";
        control.setAttribute("aria-checked", String(isOn));
        tell(isOn);
      });
    }
    for (const button of document.querySelectorAll("[data-copies]")) {
      button.hidden = !navigator.clipboard;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
        button.textContent = "Copied";
      });
    }
    /* Whoever prints wants all figures, also those further down, and printing does not wait for
       them: they are drawn when there is nothing else to do. */
    const idly = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
    const drawRest = async () => {
      const next = plots.find((plot) => !views.has(plot));
      if (next) { await draw(next); idly(drawRest); }
    };
    addEventListener("load", () => idly(drawRest));
    addEventListener("beforeprint", () => plots.forEach(draw));
  };
  document.addEventListener("DOMContentLoaded", begin);
})();
