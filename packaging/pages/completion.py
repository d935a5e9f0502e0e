# SPDX-License-Identifier: Apache-2.0
"""Completion for bash and zsh, of what `silken help` prints."""
import re

import helptext

HEAD = "# Completion of silken. Made by packaging/pages/pages.py of what `silken help` prints.\n"


def subcommands(text):
    """Words after a command that its usage or its list of commands has: {words so far: [next word]}, {words: [flag]}."""
    after, flags = {}, {}
    ways = helptext.command_words(text) if text.command == "ctl" else []
    for line in text.usage:
        words = line.split()[1 + len(text.command.split()):]
        if line.startswith("silken") and words and re.fullmatch(r"[a-z]+", words[0]):
            ways.append(((words[0],), []))
    for line in text.usage[1:]:
        found = re.match(r" *silken " + text.command + r" ([a-z]+)(?: |$)", line)
        if found:
            ways.append(((found[1],), []))
    for words, own in ways:
        for i, word in enumerate(words):
            known = after.setdefault(" ".join(words[:i]), [])
            if word not in known:
                known.append(word)
        flags.setdefault(" ".join(words), []).extend(f for f in own if f[0] not in [g[0] for g in flags.get(" ".join(words), [])])
    return after, {k: v for k, v in flags.items() if v}


def model(program):
    """([command, summary], {command: (options, after, flags)}): options are (flag, argument, optional, kind, text)."""
    summaries, texts = helptext.all_help(program)
    known = {}
    for command, text in texts.items():
        options, seen = [], set()
        for option in helptext.options(text):
            for flag, argument, optional in option.flags:
                if flag in seen:
                    continue
                seen.add(flag)
                options.append((flag, argument, optional, helptext.completes(command, flag, argument) if argument else None,
                                option.text))
        if "--help" not in seen:
            options.append(("--help", None, False, None, "print the usage"))
        known[command] = (options, *subcommands(text))
    return [(c, s) for c, s in summaries.items() if " " not in c], known


def bash(commands, known):
    out = [HEAD + """_silken_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}
_silken() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words= path= i
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W '%s help --help --version' -- "$current")
        return
    fi
    for ((i = 2; i < COMP_CWORD; i++)); do
        case "${COMP_WORDS[i]}" in
        -*) ;;
        *) case "${COMP_WORDS[i-1]}" in -s | -w | --wait) ;; *) path="$path${path:+ }${COMP_WORDS[i]}" ;; esac ;;
        esac
    done
    case "$command $before" in""" % " ".join(c for c, _ in commands)]
    for command, (options, after, flags) in known.items():
        takes = [(f, k) for f, a, optional, k, _ in options if a and not optional]
        for more in flags.values():
            takes += [(f, helptext.completes(command, f, a)) for f, a in more if a and (f, ) not in [(t[0],) for t in takes]]
        for flag, kind in takes:
            first = command.split()[0]
            if kind == "files":
                act = '_silken_files -f "$current"; return'
            elif kind == "folders":
                act = '_silken_files -d "$current"; return'
            elif kind == "nothing" or not kind:
                act = "return"
            else:
                act = f"mapfile -t COMPREPLY < <(compgen -W '{' '.join(kind)}' -- \"$current\"); return"
            line = f"    '{first} {flag}') {act} ;;"
            if line not in out:
                out.append(line)
    out.append("    esac\n    case \"$command $path\" in")
    for command, (options, after, flags) in known.items():
        for path in sorted(set(after) | set(flags), key=lambda path: (-len(path), path)):
            words = after.get(path, []) + [f for f, _ in flags.get(path, [])]
            if command == "ctl" and not after.get(path):
                out.append(f"    'ctl {path}' | 'ctl {path} '*) words='{' '.join(words)}' ;;")
            else:
                out.append(f"    '{command} {path}'{'' if path else ' | ' + repr(command)}) words='{' '.join(words)}' ;;")
    out.append("    esac\n    case \"$command\" in")
    for command, (options, after, flags) in known.items():
        if " " in command:
            continue
        both = [f for f, *_ in options] + [f for c, (o, *_) in known.items() if c.startswith(command + " ") for f, *_ in o]
        out.append(f"    {command}) case \"$current\" in -*) words=\"$words {' '.join(dict.fromkeys(both))}\" ;; esac ;;")
    out.append("    help) words='%s' ;;" % " ".join(c for c, _ in commands))
    out.append("""    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    case "$current:$command:${COMPREPLY[*]}" in
    -*:*:* | *:demo:* | *:help:* | *:*:?*) ;;
    *) _silken_files -f "$current" ;;
    esac
}
complete -F _silken silken
""")
    return "\n".join(out)


def zsh_text(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_action(kind):
    if kind == "files":
        return "_files"
    if kind == "folders":
        return "_files -/"
    if kind == "nothing" or not kind:
        return " "
    return "(" + " ".join(kind) + ")"


def zsh_option(flag, argument, optional, kind, text):
    spec = f"*{flag}"
    if argument and optional:
        spec += "=-"
    spec += f"[{zsh_text(text)}]"
    if argument:
        spec += f"{'::' if optional else ':'}{zsh_text(argument)}:{zsh_action(kind)}"
    return f"'{spec}'"


def zsh(commands, known):
    out = ["#compdef silken", HEAD + "local context state state_descr line", "typeset -A opt_args",
           "_arguments -C '(- *)--help[explain the commands]' '(- *)--version[print the version]' '1:command:->command' '*::argument:->argument'",
           "case $state in", "command)", "    local -a commands=("]
    out += [f"        '{c}:{zsh_text(s)}'" for c, s in commands] + ["        'help:explain a command'\\''s arguments'", "    )",
                                                                   "    _describe command commands ;;", "argument)", "    case $words[1] in"]
    for command, (options, after, flags) in known.items():
        if " " in command:
            continue
        for c, (more, _, _) in known.items():
            if c.startswith(command + " "):
                options = options + [o for o in more if o[0] not in [x[0] for x in options]]
        specs = " ".join(zsh_option(*o) for o in options)
        if command == "ctl":
            out.append(f"    ctl) _arguments -C {specs} '*::word:->words'\n        [[ $state = words ]] || return\n"
                       "        case \"${(j: :)words[1,CURRENT-1]}\" in")
            for path, own in flags.items():
                for flag, argument in own:
                    if argument:
                        kind = helptext.completes(command, flag, argument)
                        act = f"compadd -- {' '.join(kind)}" if isinstance(kind, list) else zsh_action(kind).strip() or ":"
                        out.append(f"        '{path} '*'{flag}' | '{path} {flag}') {act} ;;")
            for path in sorted(set(after) | set(flags), key=lambda path: (-len(path), path)):
                words = after.get(path, []) + [f for f, _ in flags.get(path, [])]
                more = "" if after.get(path) else f" | '{path} '*"
                out.append(f"        '{path}'{more}) compadd -- {' '.join(words)} ;;")
            out.append("        *) _files ;;\n        esac ;;")
        else:
            rest = "'*:file:_files'"
            if after.get(""):
                rest = f"'1:what:({' '.join(after[''])})' " + rest
            elif command == "demo":
                rest = ""
            out.append(f"    {command}) _arguments {specs} {rest} ;;")
    out.append("    help) _arguments '1:command:(%s)' ;;\n    esac ;;\nesac" % " ".join(c for c, _ in commands))
    return "\n".join(out) + "\n"


def scripts(program):
    """{file name: text}."""
    commands, known = model(program)
    return {"silken.bash": bash(commands, known), "silken.zsh": zsh(commands, known)}
