"""Every setting is described, those that estimators share by one text."""

import inspect
import re

import pytest

from garrote import estimators
from garrote.estimators.shared.documented import documented


@pytest.mark.parametrize("name", estimators.__all__)
def test_every_setting_of_an_estimator_is_described(name):
    kind = getattr(estimators, name)
    text = inspect.getdoc(kind).partition("Parameters\n")[2].partition("\nAttributes\n")[0]
    told = {
        word
        for line in re.findall(r"^(\w[\w, ]*)(?: :.*)?$", text, flags=re.MULTILINE)
        for word in line.split(", ")
    }
    assert set(inspect.signature(kind).parameters) <= told
    assert not re.search(r"^\s*\{\w+\}$", text, flags=re.MULTILINE)


def test_a_setting_without_a_description_is_an_error():
    with pytest.raises(KeyError, match="colour"):
        documented(type("Painted", (), {"__doc__": "Parameters\n    {colour}\n"}))


def test_a_class_without_docstring_stays_as_it_is():
    assert documented(type("Silent", (), {})).__doc__ is None
