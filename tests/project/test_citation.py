"""CITATION.cff is valid and names this release and the papers of its studies; .zenodo.json and codemeta.json agree.

The schema in tests/data is the Citation File Format 1.2.0 of Druskat et al., CC BY 4.0.
"""

import json
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


def test_the_papers_of_the_studies_are_cited(citation):
    cited = {
        (entry["authors"][0]["family-names"], entry["year"], entry["start"], entry["end"])
        for entry in citation["references"]
    }
    assert cited == {
        ("Castro", 1997, "102", "115"),
        ("Zhou", 2001, "91", "104"),
        ("Kroeger", 2001, "105", "118"),
        ("Wang", 1999, "29", "43"),
        ("Gill", 2005, "293", "308"),
        ("Jiang", 2002, "31", "42"),
        ("Megiddo", 2004, "58", "65"),
        ("Bansal", 2004, "187", "200"),
        ("Jiang", 2005, "323", "336"),
        ("Atre", 2020, "495", "513"),
        ("Qin", 2025, "155", "170"),
    }


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
