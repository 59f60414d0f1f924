// Runs beside the page, so that it stays responsive: Pyodide, the kernels, and traces.
"use strict";
importScripts("pyodide/pyodide.js");

let python;
const fetched = async (path) => {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${answer.statusText}`);
  return answer;
};

const ready = (async () => {
  const [kernels, source] = await Promise.all([
    fetched("kernels.zip").then((answer) => answer.arrayBuffer()),
    fetched("replay.py").then((answer) => answer.text()),
    loadPyodide({ indexURL: new URL("pyodide/", self.location.href).href }).then((made) => { python = made; }),
  ]);
  python.unpackArchive(kernels, "zip", { extractDir: "/kernels" });
  python.runPython(source);
})();

// ids and marks of a packed trace: gzipped, byte by byte of a number, the highest bit marks a write
async function unpack(path) {
  const stream = (await fetched(path)).body.pipeThrough(new DecompressionStream("gzip"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const count = planes.length / 4;
  const ids = new Uint32Array(count);
  const reads = new Uint8Array(count);
  for (let i = 0; i < count; i += 1) {
    const high = planes[3 * count + i];
    reads[i] = high < 128 ? 1 : 0;
    ids[i] = planes[i] | (planes[count + i] << 8) | (planes[2 * count + i] << 16) | ((high & 127) << 24);
  }
  return { ids, reads };
}

// A text with one block per line, read strictly: a line that is no number is an error with its place.
function parse(text) {
  const known = new Map();
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === "") lines.pop();
  if (!lines.length) throw new Error("the file is empty; expected one block number per line");
  const ids = new Uint32Array(lines.length);
  lines.forEach((line, place) => {
    const word = line.trim();
    if (!/^(\d+|0x[0-9a-f]+)$/i.test(word)) {
      throw new Error(`line ${place + 1}: ${JSON.stringify(line.slice(0, 40))} is no block number; expected one per line, decimal or 0x…`);
    }
    const block = BigInt(word);
    if (!known.has(block)) known.set(block, known.size);
    ids[place] = known.get(block);
  });
  return { ids, reads: new Uint8Array(ids.length).fill(1), blocks: known.size };
}

const actions = {
  async open({ name, path, blocks, text }) {
    const trace = text === undefined ? await unpack(path) : parse(text);
    await ready;
    python.FS.writeFile(`/${name}.ids`, new Uint8Array(trace.ids.buffer));
    python.FS.writeFile(`/${name}.reads`, trace.reads);
    python.globals.get("load")(name, trace.blocks ?? blocks);
    python.FS.unlink(`/${name}.ids`);
    python.FS.unlink(`/${name}.reads`);
    return { references: trace.ids.length, blocks: trace.blocks ?? blocks };
  },
  async replay({ name, policy, capacity }) {
    await ready;
    const begin = performance.now();
    const answer = python.globals.get("replay")(name, policy.module, policy.kernel, capacity, JSON.stringify(policy.parameters));
    const [requests, hits] = answer.toJs();
    answer.destroy();
    return { requests, hits, ms: performance.now() - begin };
  },
};

self.onmessage = async ({ data: { id, action, ...values } }) => {
  try {
    self.postMessage({ id, value: await actions[action](values) });
  } catch (error) {
    self.postMessage({ id, error: String(error.message ?? error).split("\n").filter(Boolean).at(-1) });
  }
};
