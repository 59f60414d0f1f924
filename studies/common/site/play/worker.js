// Run Pyodide and the package in a worker, so that the page stays responsive.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const fetched = async (path) => {
  const answer = await fetch(path).catch((error) => { throw new Error(`${path}: ${error.message}`); });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${answer.statusText}`);
  return new Uint8Array(await answer.arrayBuffer());
};

const ready = (async () => {
  const [archive, source, python] = await Promise.all([
    fetched("package.zip"),
    fetched("replay.py"),
    loadPyodide({ indexURL: new URL("pyodide/", self.location.href).href }),
  ]);
  python.unpackArchive(archive, "zip", { extractDir: "/package" });
  python.runPython(`import sys; sys.path.insert(0, "/package")\n${new TextDecoder().decode(source)}`);
  return python;
})();

// Call a function of replay.py
async function run(name, values) {
  const { value, error } = JSON.parse((await ready).globals.get("call")(name, JSON.stringify(values)));
  if (error !== undefined) throw new Error(error);
  return value;
}

// Write a file where Python finds it; the file keeps its name, because its format may be recognised by the name
async function placed(name, bytes) {
  const path = `/tmp/${name.replaceAll("/", "_")}`;
  (await ready).FS.writeFile(path, bytes);
  return path;
}

const drives = new Set(); // names of the drives that are loaded
const actions = {
  about: () => run("about", {}),
  async shipped({ name, path, ...about }) {
    const place = await placed(`${name}.bin`, await fetched(path));
    return run("open_shipped", { name, path: place, ...about });
  },
  async own({ name, file, form, block_size }) {
    const content = await file.arrayBuffer().catch((error) => {
      throw new Error(`${file.name}: cannot be read, as a folder or a very large file cannot be (${error.message})`);
    });
    const path = await placed(file.name, new Uint8Array(content));
    return run("open_file", { name, path, form, block_size }).catch((error) => {
      throw new Error(error.message.replaceAll(path, file.name));
    });
  },
  async drive({ name, path }) {
    if (drives.has(name)) return;
    await run("add_drive", { name, path: await placed(`${name}.bin`, await fetched(path)) });
    drives.add(name);
  },
  plan: (values) => run("plan", values),
  async replay(values) {
    await ready;
    const begin = performance.now();
    return { ...await run("replay", values), ms: performance.now() - begin };
  },
};

self.onmessage = async ({ data: { id, action, ...values } }) => {
  try {
    self.postMessage({ id, value: await actions[action](values) });
  } catch (error) {
    self.postMessage({ id, error: String(error.message ?? error).split("\n").filter(Boolean).at(-1) });
  }
};
