"""Read the facts about a study's papers for the pages: question, authors, sources, and the verdicts behind the answer.

The question is read from the study's section of the paper (``section.typ``), everything else from its
``study.yaml``.
"""

import re
from dataclasses import dataclass, field

from misspenalty_studies.common.site.inputs import called
from misspenalty_studies.common.study import studies as declared

QUESTION = re.compile(r"^\*Question\.\*\s+(.*?)\n\s*\n", re.MULTILINE | re.DOTALL)
CITED = re.compile(r"\s@([\w-]+)")
RESTORED = "restore it with `git checkout`"
CALIBRATED = "calibrated: "  # precedes the id of a claim that is judged on a variant's tables


@dataclass
class Paper:
    """Facts about the papers of a study.

    Attributes
    ----------
    context, question : str
        The study's question: the sentences that precede it, and the question itself.
    references : list of dict
        For each of its papers ``title, authors, venue, year, doi``, as text, which may be empty.
    sources : dict
        ``read, printed, missing, substitute`` of the papers; empty for a study without claims.
    rests_on : dict of str to str
        By claim, the verdicts on which the study's answer rests.
    """

    context: str = ""
    question: str = ""
    references: list = field(default_factory=list)
    sources: dict = field(default_factory=dict)
    rests_on: dict = field(default_factory=dict)


def read_papers(root, studies):
    """Return the facts about the papers of some studies.

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
        A section is missing or damaged.
    """
    found = {}
    for study in studies:
        about = declared()[study]
        context, question = read_question(root / "studies" / study / "section.typ")
        papers = [
            {name: str(text or "") for name, text in one.model_dump().items()}
            for one in sorted(about.papers, key=lambda paper: paper.year)
        ]
        rests_on = {id: verdict for id, verdict in about.rests_on.items() if not id.startswith(CALIBRATED)}
        sources = about.available.model_dump() if about.available else {}
        found[study] = Paper(context, question, papers, sources, rests_on)
    return found


def read_question(path):
    """Return the question of the study whose section is in a file; see `question_of`."""
    with called(path, "a section that begins with its question", RESTORED):
        return question_of(path.read_text(encoding="utf-8"))


def question_of(section):
    """Return the question with which a section begins: the sentences that precede it, and the question itself.

    Examples
    --------
    >>> question_of("*Question.* SARC @sarc moves a border. Is it faster?\\n\\n*What was rebuilt.* It.\\n")
    ('SARC moves a border.', 'Is it faster?')
    """
    text = " ".join(QUESTION.search(section)[1].split())
    sentences = re.split(r"(?<=[.?])\s+(?=[A-Z])", CITED.sub("", text))
    first = next((place for place, sentence in enumerate(sentences) if sentence.endswith("?")), 0)
    return " ".join(sentences[:first]), " ".join(sentences[first:])
