# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Completion of apapi and atime for bash, and for zsh after `autoload -U compinit bashcompinit && compinit && bashcompinit`.
# Commands, options and names come from the programs themselves.

# Sets `word`: the word before the cursor as a shell sees it. Readline divides it at ':' and '=' as well.
_apapi_word() {
    local line=${COMP_LINE:0:$COMP_POINT}
    word=${line##*[[:space:]]}
}

# Sets `words`: those up to the cursor, the last one with an x behind it.
_apapi_words() {
    local each
    words=()
    while read -r each; do
        words+=("$each")
    done <<<"$(tr -s '[:space:]' '\n' <<<"${COMP_LINE:0:$COMP_POINT}x")"
}

# Words that begin with `word`, or with what follows the last of the separators in it; without the part of `word` that
# readline keeps.
_apapi_offer() { # SEPARATORS WORDS [PIECE]
    local before='' candidate kept
    kept=${word%"$piece"}
    [[ -z $1 ]] || before=${value%"${value##*["$1"]}"}
    while read -r candidate; do
        [[ -n $candidate ]] || continue
        candidate=${word%"$value"}$before$candidate
        [[ $candidate == "$word"* ]] && COMPREPLY+=("${candidate#"$kept"}")
    done <<<"${2// /$'\n'}"
}

# Slurm's answer to a command; none where it takes longer than a person wants to wait for the tab key.
_apapi_ask() { # CMD...
    timeout 0.3 "$@" 2>/dev/null
}

# The last jobs of this user. A shell of their own waits for both commands: job control within a completion differs between
# bash and zsh.
_apapi_jobs() {
    _apapi_ask sh -c 'squeue -h -u "$1" -o %A & sacct -n -X -P -u "$1" -S now-2days -o jobidraw & wait' sh \
        "${USER:-$(id -un)}" | sort -un
}

_apapi_components() {
    _apapi_offer : "$(apapi list --names 2>/dev/null)"
}

# zsh's compgen knows no file names.
_apapi_names() { # -f or -d
    local name
    if [[ -z ${ZSH_VERSION:-} ]]; then
        compgen "$1" -- "$value"
        return
    fi
    for name in "$value"*; do
        [[ $1 != -d || -d $name ]] && printf '%s\n' "$name"
    done
}

_apapi_files() { # -d: folders only
    local name kept=${word%"$piece"}
    compopt -o filenames 2>/dev/null
    while read -r name; do
        name=${word%"$value"}$name
        COMPREPLY+=("${name#"$kept"}")
    done < <(_apapi_names "${1:--f}")
}

# Offers what an argument of this kind, as --help names it, can be. `value` is what of it has been typed.
_apapi_argument() { # KIND
    case $1 in
    JOB*) _apapi_offer , "$(_apapi_jobs)" ;;
    LIST | COMPONENT*) _apapi_components ;;
    ANY) _apapi_offer : "$(apapi list --json 2>/dev/null | grep -o '{"name":"[^":]*"' | cut -d'"' -f4)" ;;
    USER*) _apapi_offer , "$(compgen -u)" ;;
    PARTITION*) _apapi_offer , "$(_apapi_ask sinfo -h -o %R)" ;;
    NODES*) _apapi_offer , "$(_apapi_ask sinfo -h -N -o %N | sort -u)" ;;
    DIR) _apapi_files -d ;;
    FILE* | PROGRAM) _apapi_files ;;
    esac
}

# The argument's kind of an option, as `apapi COMMAND --list-options` says: "=JOB", " FILE"; "-": none.
_apapi_kind() { # OPTION
    awk -v option="$1" '(option == $2 || option == "-" $1) && $3 != "-" { sub(/^\[?=?/, "", $3); print $3 }' <<<"$options"
}

# The meaning of a word that belongs to no option, for a command.
_apapi_operand() { # COMMAND
    case $1 in
    list) echo COMPONENT ;;
    doctor) echo ANY ;; # also those that cannot be read here
    show | plot | regions) echo JOB ;;
    help) echo COMMAND ;;
    *) echo FILE ;;
    esac
}

_apapi_complete() { # COMMAND PREVIOUS: the options of the command are in `options`
    local value=$word kind
    if [[ $word == --*=* ]]; then
        value=${word#*=}
        _apapi_argument "$(_apapi_kind "${word%%=*}")"
        return
    fi
    if [[ $2 == -* ]]; then
        kind=$(_apapi_kind "$2")
        [[ -z $kind ]] || { _apapi_argument "$kind"; return; }
    fi
    if [[ $word == -* ]]; then
        _apapi_offer '' "$(awk '{ print $2 (index($3, "=") == 1 ? "=" : "") }' <<<"$options")"
        [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null
        return
    fi
    kind=$(_apapi_operand "$1")
    if [[ $kind == COMMAND ]]; then
        _apapi_offer '' "$(apapi --list-options 2>/dev/null)"
    else
        _apapi_argument "$kind"
        [[ $kind != JOB || $word != */* ]] || _apapi_files
    fi
}

_apapi() {
    [[ -z ${ZSH_VERSION:-} ]] || emulate -L ksh
    local word value piece=$2 options words
    COMPREPLY=()
    _apapi_word
    _apapi_words
    if ((${#words[@]} <= 2)); then
        value=$word
        _apapi_offer '' "$(apapi --list-options 2>/dev/null)"
        return
    fi
    options=$(apapi "${words[1]}" --list-options 2>/dev/null)
    _apapi_complete "${words[1]}" "${words[${#words[@]} - 2]}"
}

# After the first word that is no option, the line is the program's.
_atime() {
    [[ -z ${ZSH_VERSION:-} ]] || emulate -L ksh
    local word value piece=$2 options words i program=
    COMPREPLY=()
    _apapi_word
    _apapi_words
    options=$(atime --list-options 2>/dev/null)
    for ((i = 1; i < ${#words[@]} - 1; i++)); do
        if [[ ${words[i]} != -* ]]; then
            program=${words[i]}
            break
        fi
        [[ ${words[i]} == *=* || -z $(_apapi_kind "${words[i]}") ]] || ((i += 1))
    done
    value=$word
    if [[ -n $program ]]; then
        _apapi_files
    elif [[ $word == -* || ${words[${#words[@]} - 2]} == -* ]]; then
        _apapi_complete atime "${words[${#words[@]} - 2]}"
    else
        _apapi_offer '' "$(compgen -c -- "$word" 2>/dev/null | sort -u)"
        _apapi_files
    fi
}

complete -F _apapi apapi
complete -F _atime atime
