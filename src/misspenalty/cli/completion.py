"""Run the command ``completion``: print scripts with which a shell completes commands, options and names."""

import argparse
from string import Template

import misspenalty
from misspenalty import disks
from misspenalty.cli.arguments import add_command
from misspenalty.cli.output import Described
from misspenalty.prefetch.sequential import prefetcher as sequential
from misspenalty.traces import formats

BASH = Template("""\
# Completion for misspenalty; in ~/.bashrc: eval "$$(misspenalty completion bash)"
_misspenalty() {
  local current="$${COMP_WORDS[COMP_CWORD]}" previous="$${COMP_WORDS[COMP_CWORD-1]}" path="" words="" word head=""
  for word in "$${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$$path $$word" in
      $paths) path="$$path $$word" ;;
    esac
  done
  case "$$path $$previous" in
$values
    *)
      case "$$path" in
$options
      esac
      [[ $$current == -* ]] || compopt -o default 2>/dev/null ;;
  esac
  if [[ $$previous == --* && $$current == *,* ]]; then head="$${current%,*},"; fi
  COMPREPLY=( $$(compgen -P "$$head" -W "$$words" -- "$${current##*,}") )
}
complete -F _misspenalty misspenalty
""")
ZSH = """\
# Completion for misspenalty; in ~/.zshrc: eval "$(misspenalty completion zsh)"
autoload -Uz compinit bashcompinit
compinit -u && bashcompinit
"""
SHELLS = ("bash", "zsh", "fish")


def add(commands):
    """Add the command to a parser."""
    command = add_command(
        commands,
        "completion",
        "print a script that completes commands, options and names in your shell",
        _completion,
        (
            'eval "$(misspenalty completion bash)"    in ~/.bashrc',
            'eval "$(misspenalty completion zsh)"     in ~/.zshrc',
            "misspenalty completion fish | source     in ~/.config/fish/config.fish",
        ),
    )
    command.add_argument("shell", choices=SHELLS, help="the shell")


def _completion(options):
    tree, values = words(options.whole), known_values(options.whole)
    text = fish(tree, values) if options.shell == "fish" else bash(tree, values)
    text = ZSH + text if options.shell == "zsh" else text
    return Described({"shell": options.shell, "script": text}, text.rstrip("\n"))


def commands(parser, path=()):
    """Yield the path and the parser of a command and of all its subcommands."""
    yield path, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield from commands(command, (*path, name))


def words(parser):
    """Map the path of each command to the words that may follow it: its options and its subcommands.

    Returns
    -------
    dict of tuple of str to list of str
    """
    found = {}
    for path, command in commands(parser):
        found[path] = following = []
        for action in command._actions:
            following += [option for option in action.option_strings if option.startswith("--")]
            following += [str(choice) for choice in action.choices or () if not action.option_strings]
    return found


def known_values(parser):
    """Map each command path and option to the values that the option accepts, where these are known.

    Returns
    -------
    dict of (tuple of str, str) to list of str
    """
    names = {
        "--policy": list(misspenalty.policies()),
        "--format": list(formats()),
        "--prefetch": list(sequential.KINDS),
    }
    found = {(("penalty",), "--device"): disks.names(), (("penalty",), "--scheduler"): list(disks.SCHEDULERS)}
    for path, command in commands(parser):
        for action in command._actions:
            for option in action.option_strings:
                if known := list(map(str, action.choices or ())) or names.get(option):
                    found[path, option] = known
    return found


def bash(tree, values):
    """Return the script for bash, which zsh can also run with bashcompinit."""
    paths = "|".join(f'" {" ".join(path)}"' for path in tree if path)
    shown = "\n".join(
        f'    "{"".join(f" {word}" for word in (*path, option))}") words="{" ".join(names)}" ;;'
        for (path, option), names in values.items()
    )
    options = "\n".join(
        f'        "{"".join(f" {word}" for word in path)}") words="{" ".join(names)}" ;;'
        for path, names in tree.items()
    )
    return BASH.substitute(paths=paths, values=shown, options=options)


def fish(tree, values):
    """Return the script for fish, built from the results of `words` and `known_values`."""
    lines = ["# Completion for misspenalty; in config.fish: misspenalty completion fish | source"]
    for path, names in tree.items():
        others = [f"; and __fish_seen_subcommand_from {word}" for word in path]
        commands = [name for name in names if not name.startswith("--")]
        if commands:
            unseen = f"not __fish_seen_subcommand_from {' '.join(commands)}"
            lines.append(f"complete -c misspenalty -f -n '{unseen}{''.join(others)}' -a '{' '.join(commands)}'")
        for option in (name for name in names if name.startswith("--")):
            condition = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in path) or "__fish_use_subcommand"
            known = f" -x -a '{' '.join(values[path, option])}'" if (path, option) in values else ""
            lines.append(f"complete -c misspenalty -n '{condition}' -l {option[2:]}{known}")
    return "\n".join(lines) + "\n"
