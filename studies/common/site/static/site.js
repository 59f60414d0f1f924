// The site's script: filters of tables, and charts whose scales and series a reader can change.
"use strict";

// --- filters ---------------------------------------------------------------------------------------------------------

const MOST = 60; // rows shown at first

function filter(form) {
  const table = document.querySelector("table.claims");
  let rows = [...table.tBodies[0].rows];
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const output = form.querySelector("output");
  const noun = output.textContent.trim().split(" ")[1];
  const fields = [...form.elements].filter((field) => field.name);
  const more = form.appendChild(Object.assign(document.createElement("button"), { type: "button", textContent: "Show all" }));
  const initial = new Map(fields.map((field) => [field, field.value]));
  const choices = fields.filter((field) => field.options);
  const named = new Map(choices.flatMap((field) => [...field.options].map((option) => [option, option.textContent])));
  let most = MOST;

  // Write next to each choice how many rows it would show if the other filters stayed as they are
  function count(found) {
    for (const field of choices) {
      const others = rows.filter((row) => found(row, field));
      for (const option of field.options) {
        const number = option.value ? others.filter((row) => row.dataset[field.name] === option.value).length : others.length;
        option.textContent = `${named.get(option)} (${number})`;
      }
    }
  }

  function apply() {
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows = [...table.tBodies[0].rows]; // in their present order, which a click on a column's head may have changed
    const accepted = (row, but) =>
      choices.every((field) => field === but || !field.value || row.dataset[field.name] === field.value) && words.every((word) => texts.get(row).includes(word));
    count(accepted);
    rows.forEach((row) => {
      const found = accepted(row);
      shown += found;
      row.hidden = !found || shown > most;
    });
    more.hidden = shown <= most;
    output.textContent = `${shown} ${noun}`;
    const query = new URLSearchParams(fields.filter((field) => field.value !== initial.get(field)).map((field) => [field.name, field.value]));
    history.replaceState(null, "", query.size ? `#${query}` : location.href.replace(/#.*/, ""));
  }

  function restore() {
    fields.forEach((field) => { field.value = initial.get(field); });
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
      const field = fields.find((one) => one.name === name);
      if (field && (!field.options || [...field.options].some((option) => option.value === value))) field.value = value;
    }
  }

  restore();
  addEventListener("hashchange", () => {
    if (document.getElementById(location.hash.slice(1))) return; // a link to a part of the page
    restore();
    apply();
  });
  more.addEventListener("click", () => { most = Infinity; apply(); });
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
}

// --- order of rows ---------------------------------------------------------------------------------------------------

// Sort the rows by a column when its head is clicked: first the cells that begin with a number, by value, then the others, as text
function sortable(table) {
  const heads = [...table.querySelectorAll("thead th")].filter((head) => head.querySelector("button"));
  const value = (row, place) => row.cells[place].textContent.trim();
  for (const head of heads) {
    head.querySelector("button").addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows].map((row) => [value(row, head.cellIndex), row]);
      const compare = ([one], [other]) => {
        const [a, b] = [parseFloat(one), parseFloat(other)];
        if (Number.isNaN(a) !== Number.isNaN(b)) return Number.isNaN(a) ? 1 : -1;
        return (Number.isNaN(a) ? one.localeCompare(other) : a - b) * (descending ? -1 : 1);
      };
      table.tBodies[0].append(...rows.sort(compare).map(([, row]) => row));
      document.querySelector("form.filters")?.dispatchEvent(new Event("input"));
    });
  }
}

// --- charts ----------------------------------------------------------------------------------------------------------

function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function csv(rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cell = (value) => (/[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ""));
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

// Return a panel's specification with other scales, and without the hidden series.
function changed(panel, scales, hidden) {
  const copy = structuredClone(panel);
  const values = panel.data.values.filter((row) => !hidden.has(row.series));
  for (const layer of copy.layer) {
    for (const key of ["x", "y"]) {
      const axis = layer.encoding[key];
      if (!scales[key] || axis.axis.labelExpr) continue;
      const numbers = panel.data.values.flatMap((row) => [row[key], row[`${key}2`]]).filter((value) => value > 0);
      if (scales[key] === "log" && numbers.length) {
        axis.scale = { type: "log", domain: [Math.min(...numbers), Math.max(...numbers, 10 * Number.EPSILON)], nice: true, clamp: true };
      } else if (scales[key] === "linear") {
        axis.scale = { ...axis.scale, type: "linear", zero: false };
      }
    }
  }
  copy.data.values = values.map((row) => {
    const placed = { ...row };
    for (const key of ["x", "y"]) {
      const log = (scales[key] ?? panel.layer[0].encoding[key].scale.type) === "log";
      if (log && row.mark === "bar" && !(placed[key] > 0)) placed[key] = Number.MIN_VALUE;
    }
    return placed;
  });
  return copy;
}

// Paths of the shapes in the legend: a series' marker, or a filled field for bars
const OUTLINES = {
  square: "M12 3h8v8h-8z", diamond: "M16 2l5 5-5 5-5-5z", "triangle-up": "M16 2l5 9H11z", "triangle-down": "M16 12L11 3h10z",
  "triangle-left": "M11 7l9-5v10z", "triangle-right": "M21 7l-9 5V2z", cross: "M14.5 2h3v3.5H21v3h-3.5V12h-3V8.5H11v-3h3.5z",
  stroke: "M11 6h10v2H11z", circle: "M16 2.5a4.5 4.5 0 1 0 .01 0z", field: "M10 1h12v12H10z",
};

function swatch({ color, hollow, dash, shape, marks }) {
  const part = (name, values) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(values)) made.setAttribute(key, value);
    return made;
  };
  const picture = part("svg", { viewBox: "0 0 32 14", "aria-hidden": "true" });
  if (marks.includes("line") || marks.includes("rule")) {
    picture.append(part("path", { d: "M0 7h32", stroke: color, "stroke-width": 2, "stroke-dasharray": dash[1] ? dash.join(" ") : "none" }));
  }
  if (marks.includes("dots") || marks.includes("bar")) {
    picture.append(part("path", { d: OUTLINES[marks.includes("dots") ? shape : "field"], fill: hollow ? "white" : color, stroke: color, "stroke-width": 1.5 }));
  }
  return picture;
}

function chart(box) {
  const { series, panels } = CHARTS[box.dataset.chart];
  const places = panels.map(() => box.querySelector(".panels").appendChild(document.createElement("div")));
  const scales = {};
  const hidden = new Set();
  let views = [];

  async function draw() {
    const options = { actions: false, renderer: "svg", tooltip: { theme: "light" } };
    const drawn = await Promise.all(panels.map((panel, place) => vegaEmbed(places[place], changed(panel, scales, hidden), options)));
    views.forEach((view) => view.finalize());
    views = drawn;
  }

  const legend = box.querySelector(".legend");
  for (const one of series) {
    const { name } = one;
    const button = legend.appendChild(document.createElement("button"));
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.append(swatch(one));
    button.append(name);
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") === "true";
      button.setAttribute("aria-pressed", String(!shown));
      shown ? hidden.add(name) : hidden.delete(name);
      draw();
    });
  }
  for (const button of box.querySelectorAll("[data-scale]")) {
    const key = button.dataset.scale;
    const written = panels.every((panel) => panel.layer[0].encoding[key].axis.labelExpr);
    const log = panels.every((panel) => panel.layer[0].encoding[key].scale.type === "log");
    button.hidden = written;
    button.setAttribute("aria-pressed", String(log));
    button.addEventListener("click", () => {
      const pressed = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(pressed));
      scales[key] = pressed ? "log" : "linear";
      draw();
    });
  }
  box.querySelector("[data-save=csv]").addEventListener("click", () => {
    const rows = panels.flatMap((panel) =>
      panel.data.values
        .filter((row) => !hidden.has(row.series))
        .map(({ series, at, value, x, x2, y, y2 }) => ({ panel: panel.title, series, at, value, x, x2, y, y2 })));
    save(`${box.dataset.name}.csv`, "text/csv", csv(rows));
  });
  box.querySelector("[data-save=svg]").addEventListener("click", async () => {
    for (const [place, { view }] of views.entries()) {
      save(`${box.dataset.name}${views.length > 1 ? `_${place + 1}` : ""}.svg`, "image/svg+xml", await view.toSVG());
    }
  });
  draw().then(() => box.setAttribute("data-drawn", ""));
}

document.querySelectorAll("form.filters").forEach(filter);
document.querySelectorAll("table.claims").forEach(sortable);
document.querySelectorAll(".chart").forEach(chart);
