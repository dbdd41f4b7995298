"""The conformance suite against its own schemas, which are read by a validator that others would use."""

import copy
import json
from pathlib import Path

import jsonschema_rs
import pytest

SUITE = Path(__file__).parents[2] / "vectors" / "v1"
CASES = [
    (path.name, json.loads(line))
    for path in sorted(SUITE.glob("*/*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]


def form(case):
    """Vectors name no family."""
    return case.get("family", "execute")


@pytest.fixture(scope="module")
def validators():
    """By file name; a schema refers to others by their names."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in (SUITE / "schema").iterdir()}
    schemas = {name: json.loads(text) for name, text in texts.items()}
    registry = jsonschema_rs.Registry(
        [(f"json-schema:///{name}", schema) for name, schema in schemas.items()]
    )
    found = {}
    for name, schema in schemas.items():
        jsonschema_rs.meta.validate(schema)
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema", name
        assert schema["$id"] == name
        found[name] = jsonschema_rs.validator_for(schema, registry=registry)
    assert len(found) == 18
    return found


def test_every_case_has_the_form_of_its_schema(validators):
    for file, case in CASES:
        expected = "final" if form(case) == "execute" else "expect"
        for schema, value in [("schema", case), ("answer.schema", case[expected])]:
            for error in validators[f"{form(case)}.{schema}.json"].iter_errors(value):
                pytest.fail(f"{file}: {case['id']}: {error}")
    assert json.loads((SUITE / "MANIFEST.json").read_bytes())["cases"] == len(CASES) > 4_000


def misspelt(value):
    """The object with each key renamed in turn, and with one key more."""
    for key in value:
        yield {(name + "_" if name == key else name): member for name, member in value.items()}
    yield {**value, "unknown": 1}


# Objects within the case whose keys are the suite's.
PATHS = ["expect", "final", "initial", "initial/memory", "expect/loads/0", "tmem"]


def at(value, path):
    for key in path.split("/"):
        if isinstance(value, list):
            value = value[int(key)] if int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def test_schemas_refuse_changes(validators):
    """A schema that anything fulfils would check nothing."""
    firsts = {}
    for _, case in CASES:
        # A launch has other keys than the loads of its family.
        firsts.setdefault((form(case), "grid" in case), case)
    assert len(firsts) == 9
    for (name, _), case in firsts.items():
        validator = validators[f"{name}.schema.json"]
        assert validator.is_valid(case), name
        for key in case.keys() - {"name"}:
            assert not validator.is_valid({**case, key: {"x": [1.5]}}), f"{name}: {key}"
        for changed in misspelt(case):
            assert not validator.is_valid(changed), f"{name}: {changed}"
        assert not validator.is_valid({**case, "flags": ["no-such-flag"]}), name
        for path in PATHS:
            inner = at(case, path)
            if not isinstance(inner, dict):
                continue
            for changed in misspelt(inner):
                whole = copy.deepcopy(case)
                place = at(whole, path)
                place.clear()
                place.update(changed)
                assert not validator.is_valid(whole), f"{name}: {path}: {whole}"
