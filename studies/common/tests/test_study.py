"""Test the declarations of the existing studies, and which declarations are refused."""

import re
from pathlib import Path

import pytest
import yaml

from misspenalty.errors import InputError, ParameterError
from misspenalty_studies.common import study as module
from misspenalty_studies.common.study import read_study, studies

ROOT = Path(__file__).parents[3]
GOOD = {"position": 1, "title": "A (1999)", "short_title": "A", "name": "A", "part": "lost", "items": "Table 1"}


def write(folder, **keys):
    folder.mkdir(exist_ok=True)
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({key: value for key, value in (GOOD | keys).items() if value is not None}))
    return path


def test_every_folder_with_code_is_a_study_and_every_judged_study_states_its_result():
    folders = {path.parent.name for path in ROOT.glob("studies/*/rules.smk")}
    assert set(studies()) == folders
    for name, study in studies().items():
        assert (study.folder / "rules.smk").is_file() and (study.folder / "section.typ").is_file(), name
        if study.judged:
            assert study.headline and study.rests_on and study.papers and study.look_at, name
            assert (study.folder / "ledger.yaml").is_file() and (study.folder / "missing_facts.yaml").is_file(), name
            assert study.available, name


def test_dois_and_years_are_those_of_the_references():
    references = (ROOT / "paper" / "references.bib").read_text()
    papers = [paper for study in studies().values() for paper in study.papers]
    assert papers
    for paper in papers:
        assert paper.doi is None or paper.doi in references, paper.title
        words = paper.title.partition(":")[0].replace("-", "[-–]+").split()
        assert re.search(r"[\s{}]+".join(words), references, re.IGNORECASE), paper.title


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, r"study\.yaml: colour: Extra inputs"),
        ({"id": "yours"}, r"study\.yaml: id: follows from the name of the folder; leave the key out"),
        ({"position": 0}, r"study\.yaml: position: "),
        ({"part": "found"}, r"study\.yaml: part: Input should be 'lost'"),
        ({"title": None}, r"study\.yaml: title: Field required"),
        ({"papers": [{"title": "B"}]}, r"study\.yaml: papers\.0\.authors: Field required"),
    ],
)
def test_a_wrong_key_is_named(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        read_study(write(tmp_path / "mine", **change))


def test_a_file_that_is_not_a_mapping_is_refused(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text("- 1\n")
    with pytest.raises(InputError, match="is not a mapping"):
        read_study(path)


def test_two_studies_at_the_same_position_are_refused(tmp_path, monkeypatch):
    for name in ("one", "two"):
        write(tmp_path / name)
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    with pytest.raises(ParameterError, match=r"the studies (one and two|two and one) have the same position, 1"):
        studies.__wrapped__()
    write(tmp_path / "two", position=2)
    assert list(studies.__wrapped__()) == ["one", "two"]
