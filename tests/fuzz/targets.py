"""Define the fuzzer's targets that read results, or that replay a trace through the public functions.

Some targets check the right answer: a changed archive must be refused, and a changed table or picture must not compare
as equal.
"""

import functools
import hashlib
import io
import tempfile
import zlib
from pathlib import Path

import corpus
import matplotlib.image
import numpy as np
import sites

import misspenalty
from misspenalty.errors import InputError
from misspenalty.replay.profile import profile
from misspenalty_studies.common.claims.ledger import read_ledger
from misspenalty_studies.common.reporting.archive import crate
from misspenalty_studies.common.reporting.archive.compare import compare_contents
from misspenalty_studies.common.reporting.archive.verify import verify
from misspenalty_studies.common.reporting.provenance import build_manifest, write_manifest
from misspenalty_studies.common.reporting.recorded import changed_files, check_recorded, read_manifest

LEDGER = Path(__file__).parents[2] / "studies" / "mq" / "ledger.yaml"
TABLE = b'policy,cache,hits\nlru,1.5,9007199254740993\narc,,12\nmq,NA,1e-3\n"a,b",-0.0,7\n'
CITATION = """\
title: Made
abstract: Made.
version: 1.0.0
date-released: 2026-01-02
license: MIT
keywords: [made]
authors: [{name: Made}]
"""


@functools.cache
def checkout():
    """Return a small checkout; it is deleted when the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="checkout-")
    root = Path(folder.name)
    for name in (*crate.ENVIRONMENT, crate.WORKFLOW, "results/claims.csv", "results/mq/table.csv"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(TABLE)
    (root / "CITATION.cff").write_text(CITATION)
    crate.describe_code = functools.cache(crate.describe_code)  # cached, because it reads all sources
    crate.write_archive(root / "made.zip", root)
    return folder


def archive():
    return {"made.zip": Path(checkout().name, "made.zip").read_bytes()}


def read_archive(path):
    found = verify(path, checkout().name)
    assert path.read_bytes() == archive()["made.zip"], "a changed archive passes"
    assert {one.verdict for one in found} == {"equal"}


def manifest():
    root = Path(checkout().name)
    with tempfile.TemporaryDirectory() as folder:
        write_manifest(build_manifest(["LICENSE"], ["results/mq"], seeds={"a": 1}, root=root), Path(folder, "m.json"))
        return {"manifest.json": Path(folder, "m.json").read_bytes()}


def read_manifest_and_compare(path):
    found = read_manifest(path)
    assert all(name.startswith("results/") for name in found["outputs"])
    changed_files(found["inputs"] | found["outputs"], checkout().name)


def facts():
    digest = hashlib.sha256(b"a\n").hexdigest()
    text = f"# made\nx.csv:\n  bytes: 2\n  sha256: {digest}\nwork:\n  sha256: {{y.csv: {digest}}}\n"
    return {"captures.yaml": text.encode()}


def ledger():
    return {"ledger.yaml": b"\n- ".join(LEDGER.read_bytes().split(b"\n- ")[:12]) + b"\n"}


def read_mq_ledger(path):
    """Read an input as the ledger of the study mq; a ledger belongs to the study that its folder is named after."""
    inside = path.absolute().with_name("mq") / "ledger.yaml"
    inside.parent.mkdir(exist_ok=True)
    inside.unlink(missing_ok=True)
    inside.symlink_to(path.absolute())
    return read_ledger(inside)


def refuse_different(name, archived, path):
    """Compare a file with its archived content, both ways; refuse the file if they differ."""
    here = path.read_bytes()
    verdict, detail = compare_contents(name, archived, here)
    assert (verdict == "equal") == (archived == here)
    assert verdict == compare_contents(name, here, archived)[0]
    if verdict == "different":
        raise InputError(detail)


def picture():
    made = io.BytesIO()
    matplotlib.image.imsave(made, np.linspace(0, 1, 300).reshape(10, 10, 3), format="png")
    return made.getvalue()


def read_and_replay(path):
    """Open a trace and pass it to the public functions, with settings that depend on its bytes."""
    trace = misspenalty.open_trace(path, "spc", most_references=20_000)
    chance = np.random.default_rng(zlib.crc32(path.read_bytes()))
    policy = str(chance.choice(["lru", "arc", "mq", "lirs", "opt", "sieve"]))
    size = int(chance.integers(1, trace.blocks + 2))
    hits = misspenalty.simulate(trace, policy, size).hits
    curve = misspenalty.hit_ratio_curve(trace, policy, [size])
    assert curve["hits"].tolist() == [hits]
    misspenalty.byte_hit_ratio_curve(trace, ["lru"], [size * trace.block_bytes])
    profile(trace)
    load = [{"clients": int(chance.integers(1, 5))}, {"interval": "1ms"}, {}][chance.integers(3)]
    device = str(chance.choice(["5ms", "hp97560", "dc_p3700"]))
    row = misspenalty.penalty(trace, policy, size, device, **load).iloc[0]
    assert row["requests"] == row["hits"] + row["delayed_hits"] + row["misses"]
    assert 0 <= row["p50_us"] <= row["p95_us"] <= row["p99_us"] and row["mean_us"] >= 0


TARGETS = {
    "archive": corpus.Target(read_archive, archive),
    "manifest": corpus.Target(read_manifest_and_compare, manifest),
    "facts": corpus.Target(
        lambda path: check_recorded([path, path.with_name("y.csv")]),
        facts,
        lambda: {"x.csv": b"a\n", "y.csv": b"a\n"} | facts(),
    ),
    "ledger": corpus.Target(read_mq_ledger, ledger),
    "table": corpus.Target(functools.partial(refuse_different, "x.csv", TABLE), lambda: {"seed": TABLE}),
    "site": corpus.Target(sites.build, sites.seeds, sites.seeds),
    "picture": corpus.Target(lambda path: refuse_different("x.png", picture(), path), lambda: {"seed": picture()}),
    "replayed": corpus.Target(read_and_replay, lambda: {"seed": corpus.SPC}),
}
