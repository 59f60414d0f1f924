"""Keep the digests of the files that an unfinished run has read and made; the next run then notices changes to them.

The manifest of a run is written at its end, and the previous run's manifest is outdated once a job has finished. Until
the run ends, the journal replaces both. Each entry is a line of JSON; a later entry for the same file replaces an
earlier entry. A line that was cut short by a kill is ignored, and a file without an entry is not checked.
"""

import contextlib
import json
from pathlib import Path

from misspenalty_studies.common.reporting.provenance import describe_files
from misspenalty_studies.common.reporting.recorded import is_result

TYPES = {"part": str, "name": str, "supplement": bool, "bytes": int, "sha256": str | None}


def _is_entry(one):
    """Tell whether a JSON value is an entry; only results may be outputs, since `make reproduce` may delete outputs."""
    if not (isinstance(one, dict) and all(isinstance(one.get(key), kind) for key, kind in TYPES.items())):
        return False
    allowed = {"inputs": True, "outputs": is_result(one["name"])}
    return "\0" not in one["name"] and allowed.get(one["part"], False)


class Journal:
    """The journal in a file, which is created with the first entry.

    Parameters
    ----------
    path : path-like
    """

    def __init__(self, path):
        self.path = Path(path)
        self.dropped = set()

    def _lines(self):
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return
        for line in text.splitlines():
            with contextlib.suppress(ValueError, RecursionError):
                if _is_entry(one := json.loads(line)):
                    yield one

    def _write(self, lines):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a", encoding="utf-8") as stream:
            stream.writelines(f"\n{json.dumps(line)}\n" for line in lines)  # the first \n ends an incomplete line

    def read(self, supplement):
        """Return the latest description of each file, in the form of a manifest; missing results are left out.

        Snakemake removes the outputs of a failing job, so a missing result does not mean that someone deleted it.

        Parameters
        ----------
        supplement : bool
            Whether to include files that only the supplement needs.

        Returns
        -------
        dict of str to dict
            Under ``inputs`` and ``outputs``, size and digest by path.
        """
        found, core = {"inputs": {}, "outputs": {}}, set()
        for one in self._lines():
            place = one["part"], one["name"]
            if not one["supplement"]:
                core.add(place)
            if one["sha256"] is None:
                found[one["part"]].pop(one["name"], None)
            else:
                found[one["part"]][one["name"]] = {"bytes": one["bytes"], "sha256": one["sha256"]}
        for part, files in found.items():
            wanted = (name for name in files if supplement or (part, name) in core)
            found[part] = {name: files[name] for name in wanted if part == "inputs" or Path(name).is_file()}
        return found

    def take_manifest(self, manifest, supplement):
        """Add the files of a manifest that is about to be deleted, except those that this run has dropped."""
        self._write(
            {"part": part, "name": name, "supplement": supplement, "bytes": one["bytes"], "sha256": one["sha256"]}
            for part in ("inputs", "outputs")
            for name, one in manifest[part].items()
            if name not in self.dropped
        )

    def take_outputs(self, names, supplement):
        """Add files that a job has made; forget files in a folder that it made, because a compiled trace has its own
        checksums."""
        folders = tuple(f"{name}/" for name in names if is_result(name) and Path(name).is_dir())
        if folders:
            for name in {one["name"] for one in self._lines() if one["name"].startswith(folders)}:
                self.drop(name)
        made = describe_files(name for name in names if is_result(name) and Path(name).is_file())
        self._write({"part": "outputs", "name": name, "supplement": supplement, **one} for name, one in made.items())

    def drop(self, name):
        """Forget a file because it, or a file that is made from it, is about to be made again."""
        self.dropped.add(name)
        if self.path.exists():
            self._write(
                {"part": part, "name": name, "supplement": True, "bytes": 0, "sha256": None}
                for part in ("inputs", "outputs")
            )

    def take_input(self, name):
        """Replace what is recorded about an input by its current state, so that the next change is noticed, too."""
        self.dropped.add(name)
        made = describe_files([name])
        self._write({"part": "inputs", "name": name, "supplement": False, **one} for name, one in made.items())

    def end(self, manifests, supplement):
        """Forget the files of a complete run, which its manifests describe from now on.

        Parameters
        ----------
        manifests : iterable of dict
            The manifests that the run has written.
        supplement : bool
            Whether the run has made the supplement, too; otherwise, entries that only the supplement needs are kept.
        """
        known = {name for manifest in manifests for part in ("inputs", "outputs") for name in manifest[part]}
        core = {one["name"] for one in self._lines() if not one["supplement"]}
        rest = [one for one in self._lines() if one["name"] not in known | core and not supplement]
        self.path.unlink(missing_ok=True)
        if rest:
            self._write(rest)
