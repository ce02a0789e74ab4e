"""``garrote completion``: shells know every command and option, from the parser itself."""

import argparse
import shutil
import subprocess

import pytest

from garrote.cli.arguments import COMMANDS, make_parser

SHELLS = ["bash", "zsh", "fish"]


def needs(shell):
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"no {shell} was found")


def options_of(command):
    actions = make_parser(command)._actions
    shown = [action for action in actions if action.help != argparse.SUPPRESS]
    return {word for action in shown for word in action.option_strings if word.startswith("--")}


def completed(script, *words):
    """Return what bash would offer behind some words, of which the last is not complete."""
    line = " ".join(f"'{word}'" for word in words)
    ask = f"""
    COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}
    complete -p garrote > /dev/null && _garrote && printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", script + ask], capture_output=True, text=True, check=True, timeout=60
    )
    assert not done.stderr
    return set(done.stdout.split())


@needs("bash")
def test_bash_completes_commands_options_and_values(run):
    code, script, _ = run("completion", "bash")
    assert code == 0
    assert completed(script, "garrote", "") == {*COMMANDS, "--help", "--version"}
    assert completed(script, "garrote", "se") == {"select"}
    for command in COMMANDS:
        assert completed(script, "garrote", command, "--") == options_of(command)
    assert completed(script, "garrote", "select", "t.csv", "--tar") == {"--target"}
    assert "impute" in completed(script, "garrote", "select", "t.csv", "--missing", "")
    assert completed(script, "garrote", "predict", "m", "--missing", "e") == {"error"}
    assert "spike-slab" in completed(script, "garrote", "select", "--method", "s")
    assert completed(script, "garrote", "completion", "") == set(SHELLS)
    # Of files and of names of columns bash knows more.
    assert completed(script, "garrote", "select", "") == set()
    assert completed(script, "garrote", "select", "t.csv", "--report", "") == set()


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_is_in_every_script(run, shell):
    code, script, _ = run("completion", shell)
    assert code == 0
    for command in COMMANDS:
        for option in options_of(command):
            assert (f"-l {option[2:]} " if shell == "fish" else option) in script


def test_zsh_is_told_once_what_else_may_follow(run):
    script = run("completion", "zsh")[1]
    for rest in script.split("_arguments")[1:]:
        assert rest.partition(";;")[0].count("*:value:") <= 1


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=needs(shell)) for shell in SHELLS])
def test_scripts_are_what_their_shells_understand(run, shell):
    script = run("completion", shell)[1]
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_another_shell_is_refused(run):
    code, _, err = run("completion", "csh")
    assert code == 2
    assert "'bash', 'zsh', 'fish'" in err
