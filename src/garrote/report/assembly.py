"""A page as one file: a template, a style and perhaps a script, and a policy that allows no more."""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Any

from garrote.report.wording import markup


def page_of(template: str, *, style: str, script: str, images: bool = False, **values: Any) -> str:
    """Return a page that runs this style and this script, known by their hashes, and nothing else.

    ``images`` says that it has some, which are written in it.
    """
    policy = _policy(style, script) + ("; img-src data:" if images else "")
    page: str = _template(template).render(policy=policy, style=style, script=script, **values)
    return page


def part(name: str) -> str:
    """Return a file that pages are made of."""
    return files("garrote.report").joinpath("page", name).read_text(encoding="utf-8")


def _template(name: str) -> Any:
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise ImportError('the report needs jinja2: run `pip install "garrote[report]"`') from error
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["names"] = markup
    return environment.from_string(part(name))


def _policy(style: str, script: str) -> str:
    """Return a policy that allows this style and this script, and nothing else."""

    def known(text: str) -> str:
        return f"'sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}'"

    return (
        f"default-src 'none'; script-src {known(script)}; style-src {known(style)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )
