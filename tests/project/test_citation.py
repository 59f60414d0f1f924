"""CITATION.cff is valid and names this release and the papers of its studies; .zenodo.json and codemeta.json agree.

The schema in tests/data is the Citation File Format 1.2.0 of Druskat et al., CC BY 4.0.
"""

import json
import re
import tomllib
from pathlib import Path

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "tests" / "data" / "cff-1.2.0.schema.json").read_text())


@pytest.fixture
def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text())


def test_citation_is_valid(citation):
    jsonschema.Draft7Validator(SCHEMA).validate(citation)


def test_schema_refuses_what_is_not_cff(citation):
    with pytest.raises(jsonschema.ValidationError, match="licence"):
        jsonschema.Draft7Validator(SCHEMA).validate(citation | {"licence": "BSD-3-Clause"})


def test_citation_names_this_release(citation):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in project["authors"]]


def bibliography():
    """Return title, year, pages and DOI of each entry of the paper's bibliography."""
    text = (ROOT / "paper" / "references.bib").read_text()
    for entry in re.findall(r"@\w+\{[\w-]+,\n.*?\n\}", text, re.DOTALL):
        fields = dict(re.findall(r"^  (\w+)\s*= \{(.*)\},$", entry, re.MULTILINE))
        title = re.sub(r"[{}]", "", fields["title"]).replace("--", "-")
        yield title, int(fields["year"]), *fields.get("pages", "--").split("--"), fields.get("doi", "")


def test_everything_that_the_paper_cites_is_cited(citation):
    cited = {
        (entry["title"], entry["year"], entry.get("start", ""), entry.get("end", ""), entry.get("doi", ""))
        for entry in citation["references"]
    }
    assert cited == set(bibliography())


def test_the_source_of_every_registered_trace_is_cited(citation):
    register = yaml.safe_load((ROOT / "data" / "external.yaml").read_text())
    cited = [
        (author.get("family-names") or author["name"], entry["title"][:12].casefold())
        for entry in citation["references"]
        for author in entry["authors"][:1]
    ]
    missing = {
        words
        for words in (entry["citation"] for entry in register.values())
        if not any(author in words and title in words.casefold() for author, title in cited)
    }
    assert len(register) > 10
    assert missing == set(), "add them to CITATION.cff"


def test_zenodo_says_the_same(citation):
    zenodo = json.loads((ROOT / ".zenodo.json").read_text())
    assert zenodo["title"] == f"{citation['title']} {citation['version']}"
    assert zenodo["description"] == citation["abstract"]
    assert zenodo["publication_date"] == citation["date-released"]
    assert [one["name"] for one in zenodo["creators"]] == [author["name"] for author in citation["authors"]]
    assert {key: zenodo[key] for key in ("version", "license", "keywords")} == {
        key: citation[key] for key in ("version", "license", "keywords")
    }


def test_codemeta_says_the_same(citation):
    codemeta = json.loads((ROOT / "codemeta.json").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (codemeta["name"], codemeta["description"]) == (citation["title"], citation["abstract"])
    assert (codemeta["version"], codemeta["datePublished"]) == (citation["version"], citation["date-released"])
    assert codemeta["license"] == f"https://spdx.org/licenses/{citation['license']}"
    assert codemeta["keywords"] == citation["keywords"]
    assert [one["name"] for one in codemeta["author"]] == [author["name"] for author in citation["authors"]]
    assert codemeta["runtimePlatform"] == f"Python {project['requires-python'].removeprefix('>=')} or newer"
