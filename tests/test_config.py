"""Settings come from arguments first, then from the environment."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tests.growth import assert_steady

from dialframe.config import Settings, read_toml

ENVIRONMENT = {
    "DIALFRAME_BASE_URL": "https://api.example.com",
    "DIALFRAME_API_KEY": "svc_test_env_key",
    "DIALFRAME_STORE": "/data/store",
}


def test_environment_fills_what_is_not_given() -> None:
    """Without arguments all three come from the environment."""
    settings = Settings.from_environment(ENVIRONMENT)

    assert settings == Settings("https://api.example.com", "svc_test_env_key", Path("/data/store"))


def test_arguments_win() -> None:
    """An argument is taken before the environment."""
    settings = Settings.from_environment(ENVIRONMENT, base_url="http://127.0.0.1:1", store="here")

    assert settings.base_url == "http://127.0.0.1:1"
    assert settings.store == Path("here")


def test_empty_variables_count_as_unset() -> None:
    """A variable that is set to nothing is no setting."""
    assert Settings.from_environment({"DIALFRAME_API_KEY": ""}) == Settings()


def test_key_is_not_in_the_repr() -> None:
    """Printing settings shows no key."""
    assert "svc_test" not in repr(Settings.from_environment(ENVIRONMENT))


def test_each_setting_knows_where_it_comes_from() -> None:
    """An argument, a variable by its name, or the default; settings are equal whatever it is."""
    settings = Settings.from_environment(ENVIRONMENT, api_key="svc_test_given_key")
    unset = Settings.from_environment({})

    assert settings.origins == {
        "base_url": "DIALFRAME_BASE_URL",
        "api_key": "argument",
        "store": "DIALFRAME_STORE",
    }
    assert set(unset.origins.values()) == {"default"}
    assert settings.called("store") == "store (from DIALFRAME_STORE)"


@pytest.mark.parametrize(
    ("begin", "unit", "end", "times"),
    [
        pytest.param("", "a.", "a = 1", 50_000, id="a name of many steps"),
        pytest.param("[", '"a" . ', "a]", 50_000, id="a table of many steps"),
        pytest.param("a = ", "[", "", 50_000, id="lists in lists"),
        pytest.param("a = ", "{a = ", "", 50_000, id="tables in tables"),
        pytest.param("a = ", "1", "", 50_000, id="a number of many digits"),
        pytest.param('a = "', "a.", "", 50, id="a text that does not end"),
    ],
)
def test_a_hostile_file_of_settings_is_refused_steadily_and_in_words(
    begin: str, unit: str, end: str, times: int
) -> None:
    """The reader of the standard library takes minutes for some, and dies of others."""

    def refused(text: str) -> None:
        with pytest.raises(tomllib.TOMLDecodeError):
            read_toml(text)

    assert_steady(refused, lambda n: begin + unit * n + end, times)


def test_a_text_in_a_file_of_settings_may_have_dots_in_plenty() -> None:
    """As long as it is no name."""
    note = "Read on ... " * 100
    assert read_toml(f'a.b.c.d = "{note}"')["a"]["b"]["c"]["d"] == note
