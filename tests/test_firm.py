"""The firm file: found from below, anchored at its folder, overridden by the environment, refused where it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialframe.config import Settings
from dialframe.errors import ConfigError
from dialframe.firm import FILE_NAME, Firm


def test_the_nearest_file_above_is_found_and_anchors_paths(tmp_path: Path) -> None:
    """A command in a sub-folder uses the firm's file; relative paths start where the file is."""
    below = tmp_path / "lists" / "autumn"
    below.mkdir(parents=True)
    (tmp_path / FILE_NAME).write_text(
        '[service]\naddress = "https://service.example"\nstore = "data"\n'
        '[lists]\nregion = "US"\nsuppression = ["dnc.csv"]\n'
        '[practice]\npurpose = "survey"\n'
    )
    (tmp_path / FILE_NAME).chmod(0o600)
    firm = Firm.find(below)
    assert firm.path == tmp_path.resolve() / FILE_NAME
    assert firm.service.store == tmp_path.resolve() / "data"
    assert firm.lists.suppression == (tmp_path.resolve() / "dnc.csv",)
    assert firm.practice == {"purpose": "survey"}


def test_no_file_is_an_empty_firm(tmp_path: Path) -> None:
    """Nothing is asked of people who have no firm file."""
    assert Firm.find(tmp_path) == Firm()


def test_the_environment_and_arguments_override_the_file() -> None:
    """Argument, then environment, then file."""
    firm = Firm.from_text('[service]\naddress = "https://file.example"\nstore = "f"')
    from_file = Settings.from_environment({}, in_file=firm.settings)
    assert from_file.base_url == "https://file.example"
    assert from_file.called("base_url") == "base_url (from dialframe.toml)"
    variables = {"DIALFRAME_BASE_URL": "https://variable.example"}
    assert (
        Settings.from_environment(variables, in_file=firm.settings).base_url
        == "https://variable.example"
    )
    given = Settings.from_environment(
        variables, base_url="https://argument.example", in_file=firm.settings
    )
    assert given.base_url == "https://argument.example"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[lists]\nregoin = "US"', "lists.regoin: unknown key, did you mean region?"),
        ('[service]\napi_key = "x"', "the key is never in a file"),
        ("[sync]\npages_per_day = -1", "sync.pages_per_day"),
        ("[lists", "not valid TOML"),
        ("[lits]\n", "lits: unknown key, did you mean lists?"),
    ],
)
def test_a_fault_is_named_with_its_key(text: str, words: str) -> None:
    """One sentence: where, what, what next."""
    with pytest.raises(ConfigError) as refused:
        Firm.from_text(text)
    assert words in str(refused.value)


def test_a_file_that_everybody_may_write_is_refused(tmp_path: Path) -> None:
    """It says where the key is sent."""
    path = tmp_path / FILE_NAME
    path.write_text("")
    path.chmod(0o666)
    with pytest.raises(ConfigError, match="writable by everybody"):
        Firm.find(tmp_path)
