// The site's script: filters of tables, and charts whose scales and series a reader can change.
"use strict";

// --- filters ---------------------------------------------------------------------------------------------------------

function filter(form) {
  const rows = [...document.querySelectorAll("table.claims tbody tr")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const output = form.querySelector("output");
  const noun = output.textContent.trim().split(" ")[1];
  const fields = [...form.elements].filter((field) => field.name);

  function apply() {
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, place) => {
      const chosen = fields.every((field) => field.name === "words" || !field.value || row.dataset[field.name] === field.value);
      row.hidden = !(chosen && words.every((word) => texts[place].includes(word)));
      shown += !row.hidden;
    });
    output.textContent = `${shown} ${noun}`;
    const query = new URLSearchParams(fields.filter((field) => field.value).map((field) => [field.name, field.value]));
    history.replaceState(null, "", query.size ? `#${query}` : location.pathname);
  }

  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (form.elements[name]) form.elements[name].value = value;
  }
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
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

// A panel's specification with other scales, and without the hidden series.
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
  for (const { name, color, hollow } of series) {
    const button = legend.appendChild(document.createElement("button"));
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    const swatch = button.appendChild(document.createElement("i"));
    swatch.style.background = hollow ? "white" : color;
    swatch.style.borderColor = color;
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
document.querySelectorAll(".chart").forEach(chart);
