// The script of the page "Press play": it passes the reader's choices to the worker and shows the answers.
"use strict";

// Chromium does not let a page that is opened as a file start a worker; the end of this script shows a message on such a page
const worker = location.protocol === "file:" ? {} : new Worker("worker.js", { type: "module" });
const waiting = new Map();
let calls = 0;
worker.onmessage = ({ data: { id, value, error } }) => {
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  error === undefined ? resolve(value) : reject(new Error(error));
};
// Without this, calls to a worker that has stopped would wait for ever
worker.onerror = (event) => {
  const text = `The worker stopped: ${event.message ?? "it could not be loaded"}`;
  fail(text);
  waiting.forEach(({ reject }) => reject(new Error(text)));
  waiting.clear();
};
const call = (action, values = {}) => new Promise((resolve, reject) => {
  calls += 1;
  waiting.set(calls, { resolve, reject });
  worker.postMessage({ id: calls, action, ...values });
});

const form = document.querySelector("form.play");
const fields = form.elements;
const list = document.querySelector("select[name=claim]");
const status = document.querySelector("[role=status]");
const opened = new Map(); // what is known about each opened trace, by name
const BY_BYTES = ["fifo", "lru", "clock", "sieve"]; // chosen for objects of different sizes, if a chosen policy is not defined for them
const FIRST = ["lru", "mq", "arc", "opt"];
let manifest;
let sized = []; // policies that are defined for objects of different sizes
let rows = [];

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

function say(text) {
  status.textContent = text;
  status.classList.remove("failed");
}

// Show an error, and remove the results of earlier settings
function fail(text) {
  clear();
  say(`Error: ${text}`);
  status.classList.add("failed");
}

function clear() {
  rows = [];
  document.querySelector("table.results").hidden = true;
  document.querySelector(".curve").replaceChildren();
  document.querySelector("[data-save=csv]").hidden = true;
  document.querySelector(".command").hidden = true;
}

async function open(name) {
  if (!opened.has(name)) {
    const about = manifest.traces.find((trace) => trace.name === name);
    say(`Loading ${about.title} (${(about.bytes / 1e6).toFixed(1)} MB)`);
    opened.set(name, await call("shipped", {
      name, path: `traces/${name}.bin`, references: about.references, blocks: about.blocks, block_bytes: about.block_bytes, form: about.format,
    }));
    opened.get(name).source = about.source;
  }
  return opened.get(name);
}

const chosen = () => [...form.querySelectorAll("input[name=policy]:checked")].map((box) => box.value);
const choose = (names) => form.querySelectorAll("input[name=policy]").forEach((box) => { box.checked = names.includes(box.value); });

// Return all settings of a run as they appear in the page's address, which cannot name a file of the reader's own
function settings() {
  const own = opened.get(fields.trace.value)?.file !== undefined;
  return {
    ...(own ? {} : { trace: fields.trace.value }),
    policy: chosen().join(","),
    size: fields.size.value,
    ...(fields.device.value.trim() ? { device: fields.device.value.trim(), load: fields.load.value, ...(fields.load.value === "times" ? {} : { amount: fields.amount.value }) } : {}),
  };
}

function restore() {
  const given = new URLSearchParams(location.search);
  for (const name of ["size", "device", "amount"]) if (given.has(name)) fields[name].value = given.get(name);
  for (const name of ["trace", "load"]) {
    if (!given.has(name)) continue;
    if (![...fields[name].options].some((option) => option.value === given.get(name))) throw new Error(`the address names ${name} "${given.get(name)}", which this page does not have`);
    fields[name].value = given.get(name);
  }
  if (given.has("load") && !given.has("amount")) usual_amount();
  if (!given.has("policy")) return;
  const asked = given.get("policy").split(",").filter(Boolean);
  const known = [...form.querySelectorAll("input[name=policy]")].map((box) => box.value);
  const odd = asked.filter((name) => !known.includes(name));
  if (odd.length) throw new Error(`the address names policy "${odd[0]}", which this page does not have`);
  choose(asked);
}

function usual_amount() {
  fields.amount.value = fields.load.value === "interval" ? "300us" : "4";
}

// Disable the amount if requests come at the trace's own times, which need no number of clients and no interval
function offer_amount() {
  fields.amount.disabled = fields.load.value === "times";
}

// Return the command that makes the same table
function command(about, device) {
  const quoted = (text) => (/^[\w.,%:+/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const trace = (about.file ?? about.source).replace(/^-/, "./-"); // a name that begins with a hyphen would be an option
  const words = ["misspenalty", device ? "penalty" : "curve", quoted(trace), "--policy", chosen().join(","), "--size", quoted(fields.size.value.replaceAll(" ", ""))];
  if (about.format) words.push("--format", about.format);
  if (about.block_size) words.push("--block-size", quoted(about.block_size));
  if (device) words.push("--device", quoted(device), ...(fields.load.value === "times" ? [] : [`--${fields.load.value}`, quoted(fields.amount.value.trim())]));
  if (by_bytes(about)) words.push(device ? "--by-objects" : "--by-bytes");
  return words.join(" ");
}

const by_bytes = (about) => about.has_sizes;

async function run() {
  clear();
  const trace = fields.trace.value;
  const device = fields.device.value.trim();
  const begin = performance.now();
  const about = await open(trace);
  if (device && fields.load.value === "times" && !about.has_times) throw new Error("the trace has no times on this page: let requests come from clients, or from outside");
  const drive = manifest.drives.find((one) => one.name === device.toLowerCase());
  if (drive) await call("drive", drive);
  const wanted = { trace, by_bytes: by_bytes(about) && !device, device: drive?.name ?? device };
  const jobs = await call("plan", { ...wanted, policies: chosen(), sizes: fields.size.value });
  const query = new URLSearchParams(settings());
  history.replaceState(null, "", `?${query.toString().replaceAll("%2C", ",")}`);
  const made = [];
  for (const [policy, size] of jobs) {
    say(`${policy}, ${size.toLocaleString("en")} ${wanted.by_bytes ? "bytes" : "blocks"}: ${made.length} of ${jobs.length}`);
    const load = device ? fields.load.value : "clients";
    made.push(await call("replay", { ...wanted, policy, size, load, amount: fields.amount.value }));
  }
  rows = made;
  await show(about, device, wanted.by_bytes);
  const took = ((performance.now() - begin) / 1000).toFixed(1);
  say(`${counted(rows.length, `${device ? "timed " : ""}replay`)} of ${counted(about.references, "reference")} in ${took} s.` +
    (about.file === undefined ? "" : " The address cannot name a file of yours, so a link to this page opens it with one of the page's own traces."));
}

const rounded = (value) => (value === null ? "none" : value.toLocaleString("en", { maximumSignificantDigits: 5 }));
const percent = (value) => (value === null ? "none" : `${(100 * value).toFixed(3)} %`);

async function show(about, device, bytes) {
  const size = bytes ? "cache_bytes" : "cache_blocks";
  const heads = [
    ["Policy", (row) => row.policy],
    [bytes ? "Bytes" : "Blocks", (row) => row[size]],
    ...(bytes ? [] : [["Share", (row) => `${((100 * row[size]) / about.blocks).toFixed(1)} %`]]),
    ["Misses", (row) => row.misses],
    ...(device ? [["Delayed hits", (row) => row.delayed_hits]] : []),
    ["Hit ratio", (row) => percent(row.hit_ratio)],
    ...(bytes ? [["Byte hit ratio", (row) => percent(row.byte_hit_ratio)]] : []),
    ...(device ? ["mean", "p50", "p95", "p99"].map((what) => [what === "mean" ? "Mean, µs" : `${what}, µs`, (row) => rounded(row[`${what}_us`])]) : []),
  ];
  const table = document.querySelector("table.results");
  table.hidden = false;
  table.tHead.rows[0].replaceChildren(...heads.map(([text]) => Object.assign(document.createElement("th"), { scope: "col", textContent: text })));
  table.tBodies[0].replaceChildren(...rows.map((row) => {
    const line = document.createElement("tr");
    for (const [, value] of heads) line.appendChild(document.createElement("td")).textContent = value(row).toLocaleString("en");
    return line;
  }));
  const typed = document.querySelector(".command");
  typed.hidden = false;
  typed.querySelector("code").textContent = command(about, device);
  const what = device ? "mean_us" : bytes ? "byte_hit_ratio" : "hit_ratio";
  const title = device ? `Mean response of a read, µs (${device})` : bytes ? "Byte hit ratio of reads" : "Hit ratio of reads";
  // Make one legend for colour and marker, because Vega-Lite does not merge the legends of a line and of its points
  const policy = { field: "policy", type: "nominal", title: "Policy", legend: null };
  const colour = { expr: "scale('color', datum.value)" };
  const legend = { symbolFillColor: colour, symbolStrokeColor: colour };
  await vegaEmbed(".curve", {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    description: `${title} over cache size, one line per policy; the table below has the same numbers.`,
    width: "container",
    height: 320,
    data: { values: rows },
    mark: { type: "line", point: { size: 50 } },
    encoding: {
      x: { field: size, type: "quantitative", title: bytes ? "Cache (bytes)" : "Cache (blocks)", scale: { type: "log" } },
      y: { field: what, type: "quantitative", title, axis: device ? {} : { format: "%" } },
      color: policy,
      shape: { ...policy, legend },
      strokeDash: policy,
      tooltip: ["policy", size, "misses", { field: what, format: device ? ",.1f" : ".3%" }].map((one) => (typeof one === "string" ? { field: one } : one)),
    },
    config: { legend: { orient: innerWidth < 600 ? "bottom" : "right", columns: innerWidth < 600 ? 3 : 1, symbolStrokeWidth: 2, symbolSize: 90 } },
  }, { actions: false, renderer: "svg" });
  document.querySelector("[data-save=csv]").hidden = false;
}

const VERDICTS = { reproduced: "reproduced", direction: "right direction", not_reproduced: "not reproduced", tie: "a tie" };

// These functions compute the number that a claim is about from the hit ratios of its policies, in per cent
const MEASURED = {
  value: ([ratio]) => ratio,
  order: ([mq, lru]) => mq - lru,
  margin: ([mq, lru]) => mq - lru,
  fewer: ([mq, lru]) => (100 * (mq - lru)) / (100 - lru),
};

// Return the verdict by the rules of the ledger: a number has to be within its tolerance, and an order has to be as printed; where
// the paper says "clearly", a difference within a share of the smaller number is a tie
function verdict(claim, obtained, ratios) {
  if (claim.form === "order") {
    if (claim.tolerance && Math.abs(obtained) <= claim.tolerance * Math.min(...ratios)) return "tie";
    return obtained > 0 ? "reproduced" : "not_reproduced";
  }
  const room = claim.tolerance * (claim.measure === "relative" ? Math.abs(claim.published) : 1);
  if (Math.abs(obtained - claim.published) <= room) return "reproduced";
  return claim.form !== "value" && obtained * claim.published > 0 ? "direction" : "not_reproduced";
}

// Keep the hit ratios of replayed caches, in %, so that a further claim on the same caches need not wait
const replayed = new Map();

async function judge(claim) {
  const judged = document.querySelector(".judged");
  judged.textContent = "";
  await open(claim.trace);
  say(`Replaying ${claim.id}`);
  const ratios = [];
  for (const policy of claim.policies) {
    const cache = `${claim.trace} ${policy} ${claim.cache_blocks}`;
    if (!replayed.has(cache)) {
      const { requests, hits } = await call("replay", { trace: claim.trace, policy, size: claim.cache_blocks, by_bytes: false, device: "", load: "", amount: "" });
      replayed.set(cache, (100 * hits) / requests);
    }
    ratios.push(replayed.get(cache));
  }
  const obtained = MEASURED[claim.form](ratios);
  const made = verdict(claim, obtained, ratios);
  const hit = claim.policies.map((policy, place) => `${policy.toUpperCase()} hits ${ratios[place].toFixed(3)} %`).join(", ");
  const against = claim.form === "order" ? "" : ` Published ${claim.published} ${claim.unit}, obtained ${rounded(obtained)}; tolerance ` +
    `${claim.measure === "relative" ? `${100 * claim.tolerance} %` : `${claim.tolerance} ${claim.unit}`}.`;
  judged.textContent = `${claim.statement} In this browser: ${hit}.${against} Verdict: ${VERDICTS[made]}, ` +
    `${made === claim.verdict ? "as archived" : `but the archived verdict is: ${VERDICTS[claim.verdict]}`}.`;
  say("Done.");
  return { obtained, ratios, verdict: made };
}

// Choose and return the claim that the page's address names, so that it is judged at once; null if the address names none
function asked() {
  const id = new URLSearchParams(location.hash.slice(1)).get("claim");
  if (id === null) return null;
  const place = manifest.claims.findIndex((claim) => claim.id === id);
  if (place < 0) throw new Error(`the address names claim "${id}", which this page cannot judge`);
  list.value = place;
  document.querySelector("form.judge").scrollIntoView();
  return manifest.claims[place];
}

// Read a file of the reader's own and choose it as the trace; if it cannot be read, the chosen trace stays the same
async function own(file) {
  const name = `own_${calls}`;
  const given = { form: fields.format.value, block_size: fields.block_size.value.trim() };
  clear();
  say(`Reading ${file.name}`);
  const about = await call("own", { name, file, ...given });
  opened.set(name, { ...about, file: file.name, format: given.form, block_size: given.block_size });
  [...fields.trace.options].filter((option) => option.value.startsWith("own_")).forEach((option) => option.remove());
  fields.trace.add(new Option(`${file.name}: ${counted(about.references, "reference")} (stays on this machine)`, name, false, true));
  if (by_bytes(about)) choose(chosen().some((policy) => !sized.includes(policy)) ? BY_BYTES : chosen());
  say(`${about.text}.`);
}

// Run one task at a time, with the settings chosen at its start; a file that is dropped meanwhile waits. A control that is
// disabled loses the focus, which is restored afterwards
let last = Promise.resolve();
function guarded(work) {
  last = last.then(() => alone(work));
  return last;
}

async function alone(work) {
  const focused = document.activeElement;
  const controls = [...document.querySelectorAll("button, input, select")].filter((control) => !control.disabled);
  controls.forEach((control) => { control.disabled = true; });
  try {
    return await work();
  } catch (error) {
    fail(error.message);
  } finally {
    controls.forEach((control) => { control.disabled = false; });
    offer_amount();
    if (document.activeElement === document.body) focused?.focus({ preventScroll: true });
  }
}

const dropped = (file) => guarded(async () => {
  await own(file);
  await run();
});

async function listed() {
  const answer = await fetch("manifest.json");
  if (!answer.ok) throw new Error(`manifest.json: ${answer.status} ${answer.statusText}`);
  return answer.json();
}

async function load() {
  say("Loading Python and the package");
  let about;
  [manifest, about] = await Promise.all([listed(), call("about")]);
  for (const trace of manifest.traces) {
    fields.trace.add(new Option(`${trace.title}: ${trace.references.toLocaleString("en")} references`, trace.name));
  }
  const boxes = form.querySelector(".policies");
  for (const one of about.policies) {
    const label = boxes.appendChild(document.createElement("label"));
    label.appendChild(Object.assign(document.createElement("input"), { type: "checkbox", name: "policy", value: one.name }));
    label.append(` ${one.name}`);
    label.title = one.summary;
  }
  choose(FIRST);
  sized = about.sized;
  for (const one of about.formats) fields.format.add(new Option(one, one));
  const drives = document.querySelector("#devices");
  for (const one of manifest.drives) drives.append(new Option(one.title, one.name));
  manifest.claims.forEach((claim, place) => list.add(new Option(`${VERDICTS[claim.verdict]}: ${claim.statement}`, place)));
}

// Handle the reader's actions; an action while the page loads waits until the page's first run has ended
function listen() {
  fields.load.addEventListener("change", () => {
    usual_amount();
    offer_amount();
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); guarded(run); });
  fields.trace.addEventListener("change", () => {
    clear();
    say("Press Play to replay this trace.");
  });
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#claim=")) guarded(() => judge(asked()));
  });
  document.querySelector("form.judge")?.addEventListener("submit", (event) => {
    event.preventDefault();
    guarded(() => judge(manifest.claims[list.value]));
  });
  fields.file.addEventListener("change", ({ target }) => {
    if (target.files[0]) dropped(target.files[0]);
    target.value = "";
  });
  // Let the browser handle text that is dragged into a field
  const has_files = (event) => event.dataTransfer.types.includes("Files");
  document.addEventListener("dragover", (event) => { if (has_files(event)) event.preventDefault(); });
  document.addEventListener("drop", (event) => {
    if (!has_files(event)) return;
    event.preventDefault();
    const [file, ...others] = event.dataTransfer.files;
    if (others.length) guarded(() => { throw new Error(`${others.length + 1} files at once; a trace is one file: drop one after the other`); });
    else if (file) dropped(file);
  });
  document.querySelector("[data-save=csv]").addEventListener("click", () => {
    const columns = Object.keys(rows[0]).filter((column) => column !== "ms");
    const text = [columns, ...rows.map((row) => columns.map((column) => row[column]))].map((row) => row.join(",")).join("\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/csv" }));
    link.download = "curves.csv";
    link.click();
  });
}

// Load the page; then the body's attribute data-ready says that it is loaded, or data-failed says why it is not
(async () => {
  if (location.protocol === "file:") {
    say("A page opened as a file may not load what it needs. Serve the site: make site-serve, then http://127.0.0.1:8000/play/");
    return;
  }
  listen();
  last = load();
  try {
    await guarded(async () => {
      const claim = asked();
      if (claim) return judge(claim);
      restore();
      return run();
    });
  } catch (error) { // the page could not be loaded; an error of the run is shown already
    fail(error.message);
    document.body.dataset.failed = error.message;
    return;
  }
  document.body.dataset.ready = "";
})();
