"""``garrote completion``: a script that lets a shell complete commands, options and their values.

All of it is read off the parser, so that a new option is completed without being named here. What an
option's value may be is known where it has choices or names a method; otherwise shells offer files.
"""

import argparse
import re
from collections.abc import Iterator
from typing import NamedTuple

from garrote.cli.arguments import COMMANDS, make_parser
from garrote.cli.errors import DONE


class _Option(NamedTuple):
    """An option, or a word without one (``name`` ""): what it means, and which words may follow."""

    name: str
    meaning: str
    takes_value: bool
    choices: tuple[str, ...]


def run(options: argparse.Namespace) -> int:
    """Print the script for a shell."""
    print(_SCRIPTS[options.shell](), end="")
    return DONE


def _options(command: str) -> list[_Option]:
    """Return what may follow a command."""
    found = []
    for action in make_parser(command)._actions:
        if action.help == argparse.SUPPRESS:
            continue
        # The first clause: a list of options has one line for each.
        meaning = re.split(r" \(|[;:] ", (action.help or "").replace("%%", "%"))[0]
        choices = tuple(map(str, action.choices or ()))
        name = next((word for word in action.option_strings if word.startswith("--")), "")
        if name in ("--method", "--methods"):
            choices = _methods()
        found.append(_Option(name, meaning, action.nargs != 0, choices))
    return found


def _methods() -> tuple[str, ...]:
    from garrote.estimators.registry import SELECTORS

    return tuple(SELECTORS)


def _bash() -> str:
    """Return a function that knows the words of each place; where it knows none, bash offers files."""
    cases, options = [], []
    for command in COMMANDS:
        known = _options(command)
        for option in known:
            if option.choices and option.name:
                cases.append(
                    f'        "{command} {option.name}") words="{" ".join(option.choices)}" ;;'
                )
        valued = [f'"{command} {one.name}"' for one in known if one.takes_value and not one.choices]
        if valued:
            cases.append(f"        {'|'.join(valued)}) return ;;")
        words = " ".join(one.name for one in known if one.name)
        first = " ".join(word for one in known if not one.name for word in one.choices)
        options.append(f'        {command}) options="{words}" first="{first}" ;;')
    return _BASH.format(
        commands=" ".join(COMMANDS), cases="\n".join(cases), options="\n".join(options)
    )


_BASH = """# Completion of garrote for bash: source it, or put it where bash-completion looks.
_garrote() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
    local words="" options="" first=""
    COMPREPLY=()
    if (( COMP_CWORD == 1 )); then
        COMPREPLY=( $(compgen -W "{commands} --help --version" -- "$word") )
        return
    fi
    case "${{COMP_WORDS[1]}} $before" in
{cases}
    esac
    case "${{COMP_WORDS[1]}}" in
{options}
    esac
    if [[ -z $words && $word == -* ]]; then words="$options"; fi
    if [[ -z $words ]]; then words="$first"; fi
    if [[ -n $words ]]; then COMPREPLY=( $(compgen -W "$words" -- "$word") ); fi
}}
complete -o default -F _garrote garrote
"""


def _zsh() -> str:
    """Return a function for zsh, with what each command and option means."""
    commands = "\n".join(f"        {_quoted(f'{c}:{m}')}" for c, m in COMMANDS.items())
    cases = "\n".join(
        f"        {command})\n            _arguments {' '.join(_zsh_options(command))} ;;"
        for command in COMMANDS
    )
    return _ZSH.format(commands=commands, cases=cases)


def _zsh_options(command: str) -> list[str]:
    """Return options, and once what else may follow, however many words it is."""
    return list(dict.fromkeys(map(_zsh_option, _options(command))))


def _zsh_option(option: _Option) -> str:
    values = f"({' '.join(option.choices)})" if option.choices else "_files"
    if not option.name:
        return _quoted(f"*:value:{values}")
    meaning = "".join(f"\\{c}" if c in "[]:\\" else c for c in option.meaning)
    return _quoted(f"{option.name}[{meaning}]" + (f":value:{values}" * option.takes_value))


_ZSH = """#compdef garrote
# Completion of garrote for zsh: save it as _garrote in a folder of $fpath, or source it after compinit.
_garrote() {{
    local -a commands
    commands=(
{commands}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    shift words
    (( CURRENT-- ))
    case $words[1] in
{cases}
    esac
}}
compdef _garrote garrote
"""


def _fish() -> str:
    """Return the lines that tell fish of each command and option."""
    return "\n".join(["# Completion of garrote for fish: source it.", *_fish_lines()]) + "\n"


def _fish_lines() -> Iterator[str]:
    for command, meaning in COMMANDS.items():
        yield f"complete -c garrote -n __fish_use_subcommand -f -a {command} -d {_quoted(meaning)}"
    for command in COMMANDS:
        for option in _options(command):
            line = f"complete -c garrote -n '__fish_seen_subcommand_from {command}'"
            values = f" -x -a '{' '.join(option.choices)}'" if option.choices else " -r -F"
            if option.name:
                line += f" -l {option.name[2:]} -d {_quoted(option.meaning)}"
                yield line + (values if option.takes_value else "")
            elif option.choices:
                yield line + f" -f -a '{' '.join(option.choices)}'"


def _quoted(text: str) -> str:
    """Return a text in single quotes, as all three shells read it."""
    return "'" + text.replace("'", "'\\''") + "'"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
