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

async function unzipped(path) {
  const stream = (await fetched(path)).body.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A packed trace, byte by byte of its numbers: ids, whose highest bit marks a write, then addresses by id
async function unpack(path, blocks) {
  const planes = await unzipped(path);
  const count = (planes.length - 8 * blocks) / 4;
  const ids = new Uint32Array(count);
  const reads = new Uint8Array(count);
  for (let i = 0; i < count; i += 1) {
    const high = planes[3 * count + i];
    reads[i] = high < 128 ? 1 : 0;
    ids[i] = planes[i] | (planes[count + i] << 8) | (planes[2 * count + i] << 16) | ((high & 127) << 24);
  }
  const address = new Uint8Array(8 * blocks);
  for (let byte = 0, from = 4 * count; byte < 8; byte += 1) {
    for (let i = 0; i < blocks; i += 1, from += 1) address[8 * i + byte] = planes[from];
  }
  return { ids, reads, address };
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
    if (block >> 63n) throw new Error(`line ${place + 1}: ${word.slice(0, 40)} is too large for a block number`);
    if (!known.has(block)) known.set(block, known.size);
    ids[place] = known.get(block);
  });
  const address = new Uint8Array(BigUint64Array.from(known.keys()).buffer);
  return { ids, reads: new Uint8Array(ids.length).fill(1), address };
}

const actions = {
  async open({ name, path, blocks, blockBytes, text }) {
    const trace = text === undefined ? await unpack(path, blocks) : parse(text);
    await ready;
    const files = { ids: new Uint8Array(trace.ids.buffer), reads: trace.reads, address: trace.address };
    for (const [kind, bytes] of Object.entries(files)) python.FS.writeFile(`/${name}.${kind}`, bytes);
    python.globals.get("load")(name, blockBytes);
    for (const kind of Object.keys(files)) python.FS.unlink(`/${name}.${kind}`);
    return { references: trace.ids.length, blocks: trace.address.length / 8 };
  },
  async penalty({ name, policy, capacity, device, clients, interval }) {
    const path = `/${device.name}.drive`;
    if (device.path && !python?.FS.analyzePath(path).exists) {
      const bytes = await unzipped(device.path);
      await ready;
      python.FS.writeFile(path, bytes);
    }
    await ready;
    return JSON.parse(python.globals.get("penalty")(name, JSON.stringify(policy), capacity, JSON.stringify({ ...device, path }), clients, interval));
  },
  async replay({ name, policy, capacity }) {
    await ready;
    const begin = performance.now();
    const answer = python.globals.get("replay")(name, JSON.stringify(policy), capacity);
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
