// The page "Press play": what the reader chooses, and the answers of the worker.
"use strict";

const worker = new Worker("worker.js");
const waiting = new Map();
let calls = 0;
worker.onmessage = ({ data: { id, value, error } }) => {
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  error === undefined ? resolve(value) : reject(new Error(error));
};
worker.onerror = (event) => say(`The worker stopped: ${event.message}`);
const call = (action, values) => new Promise((resolve, reject) => {
  calls += 1;
  waiting.set(calls, { resolve, reject });
  worker.postMessage({ id: calls, action, ...values });
});

const form = document.querySelector("form.play");
const status = document.querySelector("[role=status]");
const opened = new Map();
let manifest;
let rows = [];

function say(text) { status.textContent = text; }

async function open(name) {
  if (!opened.has(name)) {
    const about = manifest.traces.find((trace) => trace.name === name);
    say(`Loading ${about.title} (${(about.bytes / 1e6).toFixed(1)} MB)`);
    opened.set(name, await call("open", { name, path: `traces/${name}.bin`, blocks: about.blocks, blockBytes: about.block_bytes }));
  }
  return opened.get(name);
}

// "1 %, 5 %, 1000": shares of the distinct blocks, or blocks
function sizes(text, blocks) {
  const found = text.split(",").map((word) => word.trim()).filter(Boolean).map((word) => {
    const match = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(word);
    const size = match && Math.floor(match[2] ? (match[1] / 100) * blocks : Number(match[1]));
    if (!match || size < 1) throw new Error(`size "${word}": expected blocks, or a share of the trace's ${blocks} blocks such as 5 %`);
    return size;
  });
  if (!found.length) throw new Error("no size: expected for instance 1 %, 5 %, 1000");
  return [...new Set(found)].sort((a, b) => a - b);
}

// So many clients, or so many µs between requests that do not wait for one another
const MOST = { clients: 1000, interval: 1000000 };
function amount(load, text) {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > MOST[load]) {
    throw new Error(`load "${text}": expected a whole number from 1 to ${MOST[load]}`);
  }
  return { clients: 0, interval: 0, [load]: number };
}

const policy = (name) => manifest.policies.find((one) => one.name === name);

async function run() {
  const name = form.elements.trace.value;
  const chosen = [...form.querySelectorAll("input[name=policy]:checked")].map((box) => box.value);
  if (!chosen.length) throw new Error("no policy is chosen");
  const begin = performance.now();
  const { references, blocks } = await open(name);
  const wanted = sizes(form.elements.sizes.value, blocks);
  const device = manifest.devices.find((made) => made.name === form.elements.device.value);
  const load = device && amount(form.elements.load.value, form.elements.amount.value);
  rows = [];
  for (const one of chosen) {
    for (const capacity of wanted) {
      say(`${one}, ${capacity} blocks: ${rows.length} of ${chosen.length * wanted.length}`);
      if (device) {
        const row = await call("penalty", { name, policy: policy(one), capacity, device, ...load });
        rows.push({ policy: one, cache_blocks: capacity, device: device.name, clients: load.clients || "", interval_us: load.interval || "", ...row, hit_ratio: row.hits / row.requests });
      } else {
        const { requests, hits, ms } = await call("replay", { name, policy: policy(one), capacity });
        rows.push({ policy: one, cache_blocks: capacity, requests, hits, misses: requests - hits, hit_ratio: hits / requests, ms });
      }
    }
  }
  await show(blocks, device);
  if (device) {
    say(`${rows.length} timed replays of ${references.toLocaleString("en")} references in ${((performance.now() - begin) / 1000).toFixed(1)} s.`);
    return;
  }
  const busy = rows.reduce((sum, row) => sum + row.ms, 0);
  say(`${rows.length} replays of ${references.toLocaleString("en")} references in ${((performance.now() - begin) / 1000).toFixed(1)} s; ` +
    `${((rows.length * references) / busy / 1000).toFixed(0)} million references per second in the kernels.`);
}

const rounded = (value) => value.toLocaleString("en", { maximumSignificantDigits: 5 });

async function show(blocks, device) {
  const table = document.querySelector("table.results");
  const heads = device ? ["Misses", "Delayed hits", "Hit ratio", "Mean, µs", "p50, µs", "p95, µs", "p99, µs"] : ["Misses", "Hit ratio"];
  table.hidden = false;
  table.tHead.rows[0].replaceChildren(...["Policy", "Blocks", "Share", ...heads].map((text) => {
    const head = document.createElement("th");
    Object.assign(head, { scope: "col", textContent: text });
    return head;
  }));
  table.tBodies[0].replaceChildren(...rows.map((row) => {
    const line = document.createElement("tr");
    const ratio = `${(100 * row.hit_ratio).toFixed(3)} %`;
    const values = device
      ? [row.misses, row.delayed_hits, ratio, ...[row.mean_us, row.p50_us, row.p95_us, row.p99_us].map(rounded)]
      : [row.misses, ratio];
    for (const cell of [row.policy, row.cache_blocks, `${((100 * row.cache_blocks) / blocks).toFixed(1)} %`, ...values]) {
      const place = line.appendChild(document.createElement("td"));
      place.textContent = cell.toLocaleString("en");
    }
    return line;
  }));
  const what = device ? "mean_us" : "hit_ratio";
  const title = device ? `Mean response of a read, µs (${device.name})` : "Hit ratio of reads";
  await vegaEmbed(".curve", {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    description: `${title} over cache size, one line per policy; the table below has the same numbers.`,
    width: "container",
    height: 320,
    data: { values: rows },
    mark: { type: "line", point: true },
    encoding: {
      x: { field: "cache_blocks", type: "quantitative", title: "Cache (blocks)", scale: { type: "log" } },
      y: { field: what, type: "quantitative", title, axis: device ? {} : { format: "%" } },
      color: { field: "policy", type: "nominal", title: "Policy" },
      tooltip: ["policy", "cache_blocks", "misses", { field: what, format: device ? ",.1f" : ".3%" }].map((one) => (typeof one === "string" ? { field: one } : one)),
    },
  }, { actions: false, renderer: "svg" });
  document.querySelector("[data-save=csv]").hidden = false;
}

async function judge(claim) {
  const { blocks } = await open(claim.trace);
  say(`Replaying ${claim.id}`);
  const { requests, hits } = await call("replay", { name: claim.trace, policy: policy(claim.policy), capacity: claim.cache_blocks });
  const obtained = (100 * hits) / requests;
  const off = claim.measure === "relative" ? Math.abs(obtained - claim.published) / Math.abs(claim.published) : Math.abs(obtained - claim.published);
  const verdict = off <= claim.tolerance ? "reproduced" : "not reproduced";
  const archived = Number(claim.archived);
  const same = Number(obtained.toPrecision(6)) === Number(archived.toPrecision(6)) ? "the same as" : "other than";
  document.querySelector(".judged").textContent = `${claim.statement} Published ${claim.published} %; in this browser ${obtained.toPrecision(6)} % of ` +
    `${requests.toLocaleString("en")} reads over ${blocks.toLocaleString("en")} blocks, which is ${same} the archived ${archived.toPrecision(6)} %. ` +
    `Off by ${off.toFixed(3)} (${claim.measure}), tolerance ${claim.tolerance}: ${verdict}.`;
  say("Done.");
  return { obtained, verdict };
}

async function own(file) {
  const name = `own_${opened.size}`;
  say(`Reading ${file.name}`);
  const about = await call("open", { name, text: await file.text(), blockBytes: 4096 });
  opened.set(name, about);
  form.elements.trace.add(new Option(`${file.name} (${about.references.toLocaleString("en")} references, stays on this machine)`, name, false, true));
  say(`${file.name}: ${about.references.toLocaleString("en")} references, ${about.blocks.toLocaleString("en")} blocks.`);
}

async function guarded(work) {
  const buttons = [...document.querySelectorAll("button, input[type=file]")];
  buttons.forEach((button) => { button.disabled = true; });
  try {
    return await work();
  } catch (error) {
    say(`Error: ${error.message}`);
  } finally {
    buttons.forEach((button) => { button.disabled = false; });
  }
}

(async () => {
  if (location.protocol === "file:") {
    say("A page opened as a file may not load what this needs. Serve the site: make site-serve, then http://127.0.0.1:8000/play/");
    return;
  }
  manifest = await (await fetch("manifest.json")).json();
  for (const trace of manifest.traces) {
    form.elements.trace.add(new Option(`${trace.title}: ${trace.references.toLocaleString("en")} references`, trace.name));
  }
  const boxes = form.querySelector(".policies");
  for (const one of manifest.policies) {
    const label = boxes.appendChild(document.createElement("label"));
    const box = label.appendChild(document.createElement("input"));
    Object.assign(box, { type: "checkbox", name: "policy", value: one.name, checked: ["lru", "mq", "arc", "opt"].includes(one.name) });
    label.append(` ${one.name}`);
    label.title = one.summary;
  }
  for (const one of manifest.devices) form.elements.device.add(new Option(`${one.name}: ${one.title}`, one.name));
  const list = document.querySelector("select[name=claim]");
  manifest.claims.forEach((claim, place) => list.add(new Option(claim.statement, place)));
  form.addEventListener("submit", (event) => { event.preventDefault(); guarded(run); });
  document.querySelector("form.judge").addEventListener("submit", (event) => {
    event.preventDefault();
    guarded(() => judge(manifest.claims[list.value]));
  });
  form.elements.file.addEventListener("change", ({ target }) => { if (target.files[0]) guarded(() => own(target.files[0])); });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0]) guarded(() => own(event.dataTransfer.files[0]));
  });
  document.querySelector("[data-save=csv]").addEventListener("click", () => {
    const columns = Object.keys(rows[0]).filter((column) => column !== "ms");
    const text = [columns, ...rows.map((row) => columns.map((column) => row[column]))].map((row) => row.join(",")).join("\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/csv" }));
    link.download = "curves.csv";
    link.click();
  });
  document.body.dataset.ready = "";
  if (!status.textContent) say("Choose, then press play.");
})();
