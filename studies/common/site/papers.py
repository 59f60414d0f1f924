"""What the pages say of a study's papers: their question, authors, what was rebuilt, and where the answer rests.

Each fact is read from where it is written down: the question from the study's section of the paper, the authors from
the references, what was available from ``sources.yaml``, the conclusion from the study's claims.
"""

import re
from dataclasses import dataclass, field

from misspenalty.io.documents import read_yaml
from misspenalty_studies.common.judge import STUDIES
from misspenalty_studies.common.site.inputs import called

QUESTION = re.compile(r"^\*Question\.\*\s+(.*?)\n\s*\n", re.MULTILINE | re.DOTALL)
CITED = re.compile(r"\s@([\w-]+)")
ENTRY = re.compile(r"^@\w+\{([\w-]+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*)\},?\s*$", re.MULTILINE)
RESTORED = "restore it with `git checkout`"
CALIBRATED = "calibrated: "  # before the id of a claim that is judged on a variant's tables


@dataclass
class Paper:
    """Facts about the papers of a study.

    Attributes
    ----------
    context, question : str
        The study's question: what comes before it, and the sentences that ask.
    references : list of dict
        Of each paper the question cites: ``title, authors, venue, year, doi``; text, which may be empty.
    sources : dict
        ``read, printed, missing, substitute``, where a paper's traces are lost; otherwise empty.
    rests_on : dict of str to str
        Verdicts on which the study's answer rests, by claim.
    """

    context: str = ""
    question: str = ""
    references: list = field(default_factory=list)
    sources: dict = field(default_factory=dict)
    rests_on: dict = field(default_factory=dict)


def read_papers(root, studies):
    """Return what is known of the papers of some studies.

    Parameters
    ----------
    root : pathlib.Path
        The checkout.
    studies : iterable of str

    Returns
    -------
    dict of str to Paper
        By study.

    Raises
    ------
    InputError
        A file is missing or damaged, or a question cites what is not among the references.
    """
    references = read_references(root / "paper" / "references.bib")
    path = root / "data" / "published" / "sources.yaml"
    sources = read_yaml(path, remedy=RESTORED)
    with called(path, "what was available of each paper", RESTORED):
        sources = {study: {name: str(text) for name, text in told.items()} for study, told in sources.items()}
    found = {}
    for study in studies:
        context, question, cited = read_question(root / "studies" / study / "section.typ")
        with called(root / "paper" / "references.bib", "the list of references", RESTORED):
            papers = [references[key] for key in cited]
        rests_on = STUDIES[study].HEADLINE[1] if study in STUDIES else {}
        rests_on = {id: verdict for id, verdict in rests_on.items() if not id.startswith(CALIBRATED)}
        found[study] = Paper(context, question, papers, sources.get(study, {}), rests_on)
    return found


def read_question(path):
    """Return the question of the study whose section is in a file; see `question_of`."""
    with called(path, "a section that begins with its question", RESTORED):
        return question_of(path.read_text(encoding="utf-8"))


def question_of(section):
    """Return the question with which a section begins: what precedes it, what is asked, and the keys it cites.

    Examples
    --------
    >>> question_of("*Question.* SARC @sarc moves a border. Is it faster?\\n\\n*What was rebuilt.* It.\\n")
    ('SARC moves a border.', 'Is it faster?', ['sarc'])
    """
    text = " ".join(QUESTION.search(section)[1].split())
    sentences = re.split(r"(?<=[.?])\s+(?=[A-Z])", CITED.sub("", text))
    first = next((place for place, sentence in enumerate(sentences) if sentence.endswith("?")), 0)
    return " ".join(sentences[:first]), " ".join(sentences[first:]), CITED.findall(text)


def read_references(path):
    """Return the references of a BibTeX file by key, each with ``title, authors, venue, year, doi`` as text."""
    with called(path, "the list of references", RESTORED):
        entries = {key: dict(FIELD.findall(body)) for key, body in ENTRY.findall(path.read_text(encoding="utf-8"))}
        return {key: _reference(entry) for key, entry in entries.items()}


def _reference(entry):
    text = {name: re.sub(r"[{}]", "", value).replace("--", "–") for name, value in entry.items()}
    return {
        "title": text["title"],
        "authors": ", ".join(map(_name, text.get("author", "").split(" and "))),
        "venue": text.get("booktitle") or text.get("journal", ""),
        "year": text.get("year", ""),
        "doi": text.get("doi", ""),
    }


def _name(name):
    """A name in the order in which it is said."""
    family, comma, given = name.partition(", ")
    return f"{given} {family}" if comma else name
