"""Write the site's pages: a folder of HTML that needs no server and loads nothing from other hosts."""

import html
import json
import re
import shutil
from pathlib import Path
from urllib.parse import urlencode

import jinja2
import pandas as pd
import vl_convert

import misspenalty
from misspenalty.errors import InputError, ParameterError
from misspenalty.io.files import atomic_path
from misspenalty_studies.common.claims.ledger import load_ledger
from misspenalty_studies.common.claims.summary import claims_of, conclusion, headline
from misspenalty_studies.common.judge import headlines
from misspenalty_studies.common.plan import paths_of
from misspenalty_studies.common.reporting.jobs import caption_of, function_of, read_tables
from misspenalty_studies.common.reporting.provenance import Sources, checkout_folders, file_digest, git_commit
from misspenalty_studies.common.site.charts import charts
from misspenalty_studies.common.site.inputs import (
    REMADE,
    VERDICTS,
    called,
    lines_of,
    read_claims,
    read_conditions,
    read_index,
    read_question,
    read_readings,
    read_table,
    rows_of,
    title_of,
)
from misspenalty_studies.common.site.links import dead_links
from misspenalty_studies.common.site.tracks import shortened, tracks
from misspenalty_studies.common.study import studies

HERE = Path(__file__).parent
MOST_ROWS = 400  # maximum number of rows of a table that a page shows; the full table can be downloaded
CONTEXT = 4  # lines of code shown before and after the one that decides a claim
FORMS = ("svg", "pdf", "png")
PARTS = {  # parts of the bar of verdicts, in order, each with the filter that a click on it sets, and with its label
    "free": ({"verdict": "reproduced", "basis": "free"}, "reproduced, free"),
    "calibrated": ({"verdict": "reproduced", "basis": "calibrated"}, "reproduced, calibrated"),
    "fitted": ({"verdict": "reproduced", "basis": "fitted"}, "reproduced, fitted"),
} | {name: ({"verdict": name}, words) for name, words in VERDICTS.items() if name != "reproduced"}
FILTERS = {  # filters of the list of claims, by column, each with its title and words for its values
    "study": ("Study", {}),
    "role": (
        "Kind of entry",
        {
            "agreement": "agreement with another program",
            "claim": "statement of a paper",
            "given": "given in any simulator",
            "derived": "follows from statements",
            "forecast": "forecast made here",
            "observation": "observation made here",
        },
    ),
    "form": ("Form", {"comparison": "a comparison", "number": "a number"}),
    "verdict": ("Verdict", {}),
    "basis": (
        "If reproduced, the model is",
        {"free": "free of published values", "calibrated": "calibrated on other values", "fitted": "fitted to it"},
    ),
}
EXTRAS = {"docs": "make docs", "notebooks": "make site", "play": "make play"}  # further part -> command that makes it
FOREIGN = {"docs", "notebooks"}  # folders whose pages are made by other programs
MENDED = (  # patterns that furo and nbconvert write, and replacements that satisfy axe-core's rules
    (r'<a class="skip-to-content[^>]*>[^<]*</a>', ""),
    (r'<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Documentation">'),
    (r'<aside class="toc-drawer([^"]*)">', r'<aside class="toc-drawer\1" aria-label="On this page">'),
    (r'(?s)<header class="mobile-header">(.*?)</header>', r'<nav class="mobile-header" aria-label="Menus">\1</nav>'),
    (r'<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    (r"<pre>", '<pre tabindex="0">'),
    (r"<th( class=\"blank[^>]*)?>(&nbsp;|\xa0)?</th>", "<td></td>"),
)
ODD = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")  # characters that HTML does not allow
DESCRIBED = "Classic results on storage caching, reproduced from raw traces and judged claim by claim."


def build_site(out, root=".", *, extras=None, progress=lambda text: None):
    """Build the site from archived results.

    Parameters
    ----------
    out : path-like
        Folder of the site; its previous content is removed.
    root : path-like
        The checkout, with ``results``, ``data``, ``src`` and ``studies``.
    extras : dict of str to path-like, optional
        Further folders to copy into the site, by name (``docs``, ``notebooks``, ``play``); the menu then has links to
        them.
    progress : callable, optional
        Called with a line of text as each part begins.

    Raises
    ------
    InputError
        The results or a further folder are missing, a file is damaged, or a link of a page leads nowhere.
    ParameterError
        A name in `extras` is not a part of the site.
    """
    root, out = Path(root), Path(out)
    index = root / "results" / "index.json"
    if not index.is_file():
        raise InputError("no such file", path=index, remedy="make the results with `make reproduce`")
    with atomic_path(out) as folder:
        folder.mkdir()
        _Site(root, folder, read_index(index), dict(extras or {}), progress).write()
        progress("links")
        if dead := dead_links(folder):
            shown = "; ".join(f"{page} to {link}" for page, link in dead[:5])
            many = f"{len(dead)} links of the site lead" if len(dead) > 1 else "a link of the site leads"
            raise InputError(f"{many} nowhere: {shown}", path=out)


class _Site:
    """One build of the site."""

    def __init__(self, root, out, index, extras, progress):
        self.root, self.out, self.results = root, out, root / "results"
        place = {study: about.position for study, about in studies().items()}  # the menu is in the paper's order
        self.titles = dict(sorted(index["titles"].items(), key=lambda item: place.get(item[0], len(place))))
        self.made, self.progress = index["made"], progress
        self.figures = {figure["output"].removeprefix("results/"): figure for figure in index["figures"]}
        self.extras = {name: Path(path) for name, path in extras.items()}
        for name, path in self.extras.items():
            if name not in EXTRAS:
                raise ParameterError(f"the site has no part {name!r}; expected {', '.join(EXTRAS)}")
            if not path.is_dir():
                remedy = f"make it with `{EXTRAS[name]}`, or build the site without it"
                reason = f"no such folder; the site's part {name} is copied from it"
                raise InputError(reason, path=path, remedy=remedy)
        self.claims = read_claims(self.results / "claims.csv", self.titles)
        self.sources = Sources(checkout_folders(root))
        self.read = self._readings()
        states = read_table(self.results / "recomputed.csv", ("study", "state"), "what was recomputed")
        states = states[states["study"].isin(list(self.titles))]
        self.states = dict(zip(states["study"], states["state"], strict=True))
        if unknown := [study for study in self.titles if study not in self.states]:
            raise InputError(
                f"has no row for the study {unknown[0]}", path=self.results / "recomputed.csv", remedy=REMADE
            )
        calibrated = read_claims(self.results / "claims_calibrated.csv", self.titles)
        self.answers = {study: _marked(text) for study, text in headlines(self.claims, calibrated).items()}
        self.questions = {study: read_question(root / "studies" / study / "section.typ") for study in self.titles}
        self.judged = dict(zip(self.claims["id"], self.claims.to_dict("records"), strict=True))
        self.replayed = self._replayed()
        self.ledger = {claim.id: claim for claim in load_ledger(root)}
        self.pages = jinja2.Environment(
            loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True, undefined=jinja2.StrictUndefined,
            trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        self.pages.globals |= {"titles": self.titles, "extras": list(self.extras), "verdicts": VERDICTS}
        self.pages.globals |= {"judges": bool(self.replayed)}
        self.pages.globals |= {"version": misspenalty.__version__, "commit": commit_of(root)}
        self.pages.filters |= {"claim_page": claim_page, "shortened": shortened, "latex": latex}

    def _readings(self):
        """Return the code and the rows that each claim is based on; rows are listed under their table's path."""
        found = {}
        for study in sorted(set(self.claims["study"])):
            found |= read_readings(self.results / study / "runs" / "readings.json", study)
        if missing := [claim for claim in self.claims["id"] if claim not in found]:
            raise InputError(
                f"no reading of the claim {missing[0]}", path=self.results / "claims.csv",
                remedy="make it with `.venv/bin/snakemake -c all readings`",
            )  # fmt: skip
        return found

    def _replayed(self):
        """Return the claims that the page "Press play" can judge."""
        path = self.extras.get("play", Path()) / "manifest.json"
        if not path.is_file():
            return set()
        with called(path, "what the page plays", "make it again with `make play`"):
            return {claim["id"] for claim in json.loads(path.read_text(encoding="utf-8"))["claims"]}

    def write(self):
        """Write every page, and the files that the pages offer."""
        self.progress("files")
        shutil.copytree(HERE / "static", self.out / "static")
        (self.out / "static" / "vega.js").write_text(vl_convert.javascript_bundle())
        for name, folder in self.extras.items():
            shutil.copytree(folder, self.out / name, ignore=shutil.ignore_patterns(".buildinfo", "objects.inv"))
        for name in FOREIGN & self.extras.keys():
            for path in (self.out / name).rglob("*.html"):
                self._frame(path)
        self._copy_results()
        self.progress("figures")
        for key, figure in self.figures.items():
            self._figure(key, figure)
        self.progress("claims")
        self._claims()
        self._overview()
        self._files()
        if "notebooks" in self.extras:
            self._notebooks()
        if "play" in self.extras:
            for name in ("play.js", "worker.js", "replay.py"):
                shutil.copy(HERE / "play" / name, self.out / "play")
            self._page("play/index.html", "play.html")

    def _page(self, path, template, **values):
        depth = path.count("/")
        target = self.out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        told = {"described": DESCRIBED, "picture": "data/overview.png", "content": "main"} | values
        text = self.pages.get_template(template).render(up="../" * depth, here=path, **told)
        if odd := ODD.search(text):
            raise InputError(f"page {path} would contain the character {odd[0]!r}", path=self.results)
        target.write_text(text + "\n", encoding="utf-8")

    def _frame(self, path):
        """Insert the site's header and icon into a page that another program made."""
        here = path.relative_to(self.out).as_posix()
        up = "../" * here.count("/")
        with called(path, "a whole page", "build the documentation and the notebooks again"):
            text = path.read_text(encoding="utf-8")
            if len(re.findall(r"<body[\s>]", text)) != 1 or text.count("</head>") != 1:
                raise ValueError("expected one head and one body")
        links = f'<link rel="icon" type="image/svg+xml" href="{up}static/icon.svg">\n'
        links += f'<link rel="stylesheet" href="{up}static/header.css">\n'
        if 'name="description"' not in text:
            links += f'<meta name="description" content="{html.escape(DESCRIBED)}">\n'
        text = re.sub(r'href="([\w-]+)\.ipynb"', r'href="\1.html"', text).replace("<main>", '<main id="main">')
        content = "main" if 'id="main"' in text else "furo-main-content"
        header = self.pages.get_template("header.html").render(up=up, here=here, content=content)
        for pattern, instead in MENDED:
            text = re.sub(pattern, instead, text)
        text = re.sub(r"<link[^>]*rel=\"(?:shortcut )?icon\"[^>]*>", "", text)
        text = text.replace("</head>", f"{links}</head>", 1)
        path.write_text(re.sub(r"<body[^>]*>", lambda found: f"{found[0]}\n{header}", text, count=1), encoding="utf-8")

    def _copy_results(self):
        read = {f"results/{path}" for reading in self.read.values() for path in reading.rows}
        for path in sorted({*self.made, *read, "results/index.json"}):
            source = self.root / path
            if source.is_file():
                target = self.out / path.replace("results/", "data/", 1)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    # --- figures -----------------------------------------------------------------------------------------------------

    def _figure(self, key, figure):
        readers = self._readers(figure)
        self._page(
            f"figure/{key}.html",
            "figure.html",
            described=f"{figure['item']} of {self.titles[figure['study']]}: {figure['shows']}",
            picture=f"data/{key}.png",
            key=key,
            figure=figure,
            caption=_paragraphs(caption_of(figure["function"])),
            chart=self._chart(key),
            tables=[path.removeprefix("results/") for path in paths_of(figure["inputs"]) if path in self.made],
            code=self._code(figure["function"]),
            claims=self.claims[self.claims["id"].isin(readers)].to_dict("records"),
            forms=[form for form in FORMS if (self.results / f"{key}.{form}").is_file()],
        )

    def _chart(self, key):
        """Write a script with the charts of a figure, if all its tables exist; return whether the script exists.

        It is a script because a page that is opened as a local file may load scripts, but not read other files.
        """
        target, figure = self.out / "charts" / f"{key}.js", self.figures[key]
        if target.is_file():
            return True
        if not all((self.root / path).is_file() for path in paths_of(figure["inputs"])):
            return False
        with called(self.results / key, "a figure that can be drawn from its tables"):
            inputs = read_tables(_under(self.root, figure["inputs"]))
            drawn = charts(function_of(figure["function"])(**inputs, **_tuples(figure["options"])))
        target.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(drawn, separators=(",", ":"))
        target.write_text(f"(globalThis.CHARTS ??= {{}})[{json.dumps(key)}] = {text};\n")
        return True

    def _readers(self, figure):
        """Return the claims that read a table of a figure."""
        tables = {path.removeprefix("results/") for path in paths_of(figure["inputs"])}
        return {claim for claim, reading in self.read.items() if tables & reading.rows.keys()}

    # --- claims ------------------------------------------------------------------------------------------------------

    def _claims(self):
        rows = self.claims.to_dict("records")
        counts = {name: sorted(set(self.claims[name]) - {""}) for name in FILTERS}
        self._page("claims.html", "claims.html", claims=rows, counts=counts, filters=FILTERS)
        conditions = self._conditions()
        by_figure = {key: self._readers(figure) for key, figure in self.figures.items()}
        for place, row in enumerate(rows):
            reading = self.read[row["id"]]
            figures = [key for key, readers in by_figure.items() if row["id"] in readers]
            named = row["id"].split(".")[1]
            figures.sort(key=lambda key, named=named: key.rpartition("/")[2] != named)
            self._page(
                claim_page(row["id"]),
                "claim.html",
                described=f"{row['statement']} {VERDICTS[row['verdict']].capitalize()}.",
                picture=f"data/{figures[0]}.png" if figures else "data/overview.png",
                row=row,
                claim=self._entry(row["id"]),
                before=rows[place - 1]["id"] if place else None,
                after=rows[place + 1]["id"] if place + 1 < len(rows) else None,
                chart=bool(figures) and self._chart(figures[0]),
                figures=figures,
                derived=[other for other in rows if row["id"] in self._entry(other["id"]).follows],
                follows=[self.judged[id] for id in self._entry(row["id"]).follows if id in self.judged],
                conditions=conditions.get(row["id"], []),
                tracks=tracks(self._entry(row["id"]), row, conditions.get(row["id"], [])),
                replayed=row["id"] in self.replayed,
                code=self._lines(reading.path, reading.line),
                tables=[self._rows(path, numbers) for path, numbers in reading.rows.items()],
            )

    def _entry(self, claim):
        """Return a claim's entry of the ledger."""
        if claim not in self.ledger:
            raise InputError(f"claim {claim} is not in the ledger", path=self.results / "claims.csv", remedy=REMADE)
        return self.ledger[claim]

    def _conditions(self):
        paths = [path for study in self.titles if (path := self.results / study / "conditions.csv").is_file()]
        return {claim: rows for path in paths for claim, rows in read_conditions(path).items()}

    def _rows(self, path, numbers):
        frame, chosen = rows_of(self.results / path, numbers)
        return {
            "path": path,
            "columns": list(frame.columns),
            "rows": [[_rounded(cell) for cell in row] for row in chosen.head(MOST_ROWS).itertuples(index=False)],
            "read": len(numbers),
            "all": len(frame),
        }

    def _lines(self, path, line):
        source = lines_of(self.root / path, line)
        first = max(1, line - CONTEXT)
        shown = source[first - 1 : line + CONTEXT]
        return {"path": path, "line": line, "first": first, "lines": shown}

    def _code(self, function):
        """Return the path of the source of a function, and the line where the function starts."""
        path = self.sources.path_of(function.rpartition(".")[0])
        text = path.read_text()
        start = re.search(rf"^def {function.rpartition('.')[2]}\b", text, re.MULTILINE)
        line = text[: start.start()].count("\n") + 1 if start else 1
        return {"path": path.relative_to(self.root).as_posix(), "line": line}

    # --- the rest ----------------------------------------------------------------------------------------------------

    def _overview(self):
        counts = {row["study"]: row for row in headline(self.claims).to_dict("records")}
        archived = [self.titles[study] for study, state in self.states.items() if state == "archived"]
        told = {study: self._told(study) for study in self.titles}
        lost = [study for study in counts if study in self.titles and studies()[study].part == "lost"]
        self._page(
            "index.html",
            "index.html",
            counts=list(counts.values()),
            conclusion=conclusion(self.claims, lost) if lost else None,
            lost=[self.titles[study] for study in lost],
            bar=_bar(self.claims),
            studies={study: told[study] for study in counts if study in told},
            others={study: told[study] for study in told if study not in counts},
            figures=self.figures,
            paper=(self.results / "paper.pdf").is_file(),
            archived=archived,
        )
        for study, title in self.titles.items():
            tables = (path for path in self.made if path.startswith(f"results/{study}/") and path.endswith(".csv"))
            figures = {key: figure for key, figure in self.figures.items() if figure["study"] == study}
            best = told[study]["best"]
            self._page(
                f"study/{study}.html",
                "study.html",
                described=f"{title}: {told[study]['question']}",
                picture=f"data/{best}.png" if best else "data/overview.png",
                study=study,
                title=title,
                state=self.states[study],
                figures=figures,
                chart=bool(best) and self._chart(best),
                tables=sorted(path.removeprefix("results/") for path in tables),
                claims=self.claims[self.claims["study"] == study].to_dict("records"),
                counts=counts.get(study),
                notebook=(self.out / "notebooks" / f"{study}.html").is_file(),
                **told[study],
            )

    def _told(self, study):
        """Return the parts that the home page and the study's page share: what the study declares, its question, the
        answer, the claims that the answer rests on, the bar of verdicts, and the most telling figure."""
        about, (context, question) = studies()[study], self.questions[study]
        return {
            "about": about,
            "context": context,
            "question": question,
            "rests_on": [self.judged[id] for id in about.rests_on if id in self.judged],
            "answer": self.answers.get(study, ""),
            "bar": _bar(self.claims[self.claims["study"] == study], study),
            "best": self._telling(study, [key for key, figure in self.figures.items() if figure["study"] == study]),
        }

    def _telling(self, study, figures):
        """Return the figure whose tables are read by the largest number of the claims that the answer rests on, the
        first one on ties; None if there are no figures."""
        rests_on = set(studies()[study].rests_on)
        return max(figures, key=lambda key: len(rests_on & self._readers(self.figures[key])), default=None)

    def _notebooks(self):
        """Write the page that lists the notebooks, each with its first heading."""
        rows = []
        for path in sorted((self.out / "notebooks").glob("*.html")):
            rows.append({"name": path.name, "title": title_of(self.root / "notebooks" / f"{path.stem}.ipynb")})
        self._page("notebooks.html", "notebooks.html", notebooks=rows)

    def _files(self):
        rows = []
        for path, how in sorted(self.made.items()):
            if (self.root / path).is_file():
                size = (self.root / path).stat().st_size
                digest = file_digest(self.root / path)
                rows.append({"path": path, "size": size, "sha256": digest, **how, "data": path[8:]})
        self._page("files.html", "files.html", files=rows)


def commit_of(root):
    """Return the commit of a git checkout, or ``unknown`` if `root` is not the top folder of one."""
    found = git_commit(root)
    return found["commit"] if found else "unknown"


def claim_page(claim):
    """Return the path of the page of a claim, relative to the site.

    >>> claim_page("mq.table4.mq.128")
    'claim/mq.table4.mq.128.html'
    """
    return f"claim/{claim}.html"


def latex(text):
    """Return a text with LaTeX's special characters escaped, as BibTeX requires.

    >>> print(latex("mq.rel_miss, 5 %"))
    mq.rel\\_miss, 5 \\%
    """
    return re.sub(r"[&%$#_{}]", r"\\\g<0>", text)


def _under(root, source):
    if isinstance(source, dict):
        return {name: _under(root, one) for name, one in source.items()}
    return str(root / source) if isinstance(source, str) else [_under(root, one) for one in source]


def _tuples(options):
    """Convert the options back to the workflow's form: JSON has turned pairs, which were tuples, into lists."""
    return {
        name: [tuple(one) if isinstance(one, list) else one for one in value] if isinstance(value, list) else value
        for name, value in options.items()
    }


def _paragraphs(text):
    """Return a docstring's paragraphs as HTML; only text in backquotes is marked up, as code."""
    return "".join(f"<p>{_marked(' '.join(part.split()))}</p>" for part in re.split(r"\n\s*\n", text))


def _marked(text):
    """Return a text as HTML; text in backquotes is marked up as code."""
    return re.sub(r"(`+)(.+?)\1", r"<code>\2</code>", html.escape(text))


def _rounded(cell):
    """Round the text of a number with a point or an exponent to six significant digits; return other text as is."""
    try:
        return f"{float(cell):.6g}" if "." in cell or "e" in cell.lower() else cell
    except ValueError:
        return cell


def _bar(claims, study=None):
    """Return the parts of the bar of verdicts on the papers' claims: name, label, count, and the filter that a click
    sets."""
    counted, parts = claims_of(claims), []
    for name, (chosen, words) in PARTS.items():
        count = int((counted[list(chosen)] == pd.Series(chosen)).all(axis=1).sum())
        query = urlencode({"role": "claim", **chosen, **({"study": study} if study else {})})
        parts.append({"name": name, "words": words, "count": count, "query": query})
    return parts
