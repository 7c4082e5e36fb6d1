# The runner of bash: executes cells in one shell and tells errors and the end on a private descriptor.
# Its own names begin with __atoll_. User code shares the shell: it can end it, and then the interpreter is reported dead. What
# it cannot do is leave the interpreter alive and dumb: whatever cannot be said any more ends it. So does what bash itself has no
# way back from: `set -n` (it executes nothing from then on) and `set -r`.
builtin declare -r __atoll_fd=$ATOLL_CONTROL_FD __atoll_nothing
unset ATOLL_CONTROL_FD __atoll_line BASH_EXECUTION_STRING
__atoll_count=0 __atoll_settled=1 __atoll_status=0 __atoll_stopped=0 __atoll_rounds=0
__atoll_before=('') __atoll_body='' __atoll_change='' __atoll_kind='' __atoll_traced='' __atoll_mark='' __atoll_options=''
set +m

# An expansion ends the shell whatever became of its commands.
__atoll_done() {
  builtin printf 'D %d %s\n%s' "${#1}" "$__atoll_mark" "$1" >&"$__atoll_fd" || _=${__atoll_nothing:?the interpreter cannot answer any more}
}

__atoll_failed() {
  builtin local LC_ALL=C __atoll_text="exit status $1"
  builtin local __atoll_said="${#2}"$'\n'"$2${#__atoll_text}"$'\n'"$__atoll_text${#__atoll_text}"$'\n'"$__atoll_text"
  builtin printf 'F %d %s\n%s' "${#__atoll_said}" "$__atoll_mark" "$__atoll_said" >&"$__atoll_fd"
}

# Reads one message into __atoll_kind and __atoll_body. Bytes, not characters, and nothing split.
__atoll_receive() {
  builtin local LC_ALL=C REPLY || _=${__atoll_nothing:?LC_ALL or REPLY cannot be set}
  builtin read -r -u "$__atoll_fd" || _=${__atoll_nothing:?the interpreter cannot hear any more}
  __atoll_kind=${REPLY%% *} __atoll_body=
  (( ${REPLY#* } == 0 )) || builtin read -r -d '' -N "${REPLY#* }" -u "$__atoll_fd" __atoll_body ||
    _=${__atoll_nothing:?the interpreter cannot hear any more}
}

# An interrupt leaves all loops, and from then on no command of the cell is executed any more: with extdebug a DEBUG trap
# that returns 2 ends the sourced text it is in.
__atoll_halt() { [[ " ${FUNCNAME[*]} " != *" source "* ]] || return 2; }
__atoll_stop() {
  __atoll_stopped=1
  builtin shopt -s extdebug
  builtin trap __atoll_halt DEBUG
}

# After a cell, which may have defined functions of any name and traces what is executed. In POSIX mode "unset" is the
# shell's own whatever was defined, and with it "builtin" is again what leads to all the others. Variables of the interpreter's
# that are no longer plain would make it lie. Leaving POSIX mode turns aliases off. What is parsed after a cell was executed
# is quoted where an alias could stand.
__atoll_settle() {
  (( __atoll_settled == 0 )) || return 0
  __atoll_options=$BASHOPTS POSIXLY_CORRECT=1
  unset -f unset builtin
  builtin unset POSIXLY_CORRECT
  [[ :$__atoll_options: != *:expand_aliases:* ]] || builtin shopt -s expand_aliases
  builtin trap : INT
  builtin shopt -u extdebug
  __atoll_traced=
  [[ ! -v FUNCNEST ]] || __atoll_traced="FUNCNEST=${FUNCNEST@Q}; "
  builtin unset FUNCNEST
  [[ $- != *k* ]] || __atoll_traced+='\builtin set -k; '
  [[ $- != *x* ]] || __atoll_traced+='{ \builtin set -x; } 2>/dev/null; '
  builtin set +xk
  [[ ${__atoll_before@a} == a && -z ${__atoll_count@a}${__atoll_settled@a}${__atoll_status@a} &&
    -z ${__atoll_stopped@a}${__atoll_traced@a}${__atoll_kind@a}${__atoll_body@a}${__atoll_change@a} &&
    -z ${__atoll_mark@a}${__atoll_rounds@a}${__atoll_options@a} ]] ||
    _=${__atoll_nothing:?}
  __atoll_settled=1
}
# How a cell ended, after what was set for its time only; before the first one, that there is an interpreter.
__atoll_answer() {
  if (( __atoll_count == 0 )); then
    builtin printf 'K 0\n' >&"$__atoll_fd"
    return
  fi
  if (( __atoll_stopped )); then __atoll_status=130; fi
  for __atoll_change in "${__atoll_before[@]:1}"; do builtin eval "$__atoll_change"; done
  if (( __atoll_stopped )); then
    __atoll_failed 130 KeyboardInterrupt
  elif (( __atoll_status != 0 )); then
    __atoll_failed "$__atoll_status" ExitStatus
  fi
  __atoll_done "$__atoll_status $__atoll_count"
}

# Until a cell comes.
__atoll_await() {
  __atoll_before=('')
  while __atoll_receive; do
    case $__atoll_kind in
      A) __atoll_mark=$__atoll_body ;;
      V) __atoll_lend "${__atoll_body%%=*}" ;;
      P) builtin export "${__atoll_body%%=*}=${__atoll_body#*=}" ;;
      X) __atoll_rounds=0; builtin break ;;
    esac
  done
}

__atoll_lend() {
  if [[ -v $1 ]]; then
    __atoll_before+=("\\builtin export $1=${!1@Q}")
  else
    __atoll_before+=("\\builtin unset $1")
  fi
  builtin export "$1=${__atoll_body#*=}"
}

# Cells are sourced, not in a function: what they declare is global. A cell that says break or continue outside of its
# loops leaves this one: then it is answered on the way in again. The loop ends when its condition is not executed (after
# `set -n`, or where a DEBUG trap skips all commands), and with it the shell; nor does it go round and hear nothing.
__atoll_cells='
until (( 0 )); do
  { __atoll_settle; builtin trap - DEBUG; } >/dev/null 2>&1
  [[ $- != *r* ]] && (( __atoll_rounds++ < 3 )) || _=${__atoll_nothing:?the interpreter cannot go on}
  __atoll_answer
  __atoll_await
  __atoll_count=$((__atoll_count + 1)) __atoll_stopped=0 __atoll_status=0 __atoll_settled=0
  builtin trap "__atoll_stop; builtin break 999 2>/dev/null" INT
  builtin source <(\builtin printf "%s\n" "$__atoll_traced$__atoll_body") {__atoll_fd}<&- </dev/null
  { __atoll_status=$? && __atoll_settle; builtin trap - DEBUG; } >/dev/null 2>&1
done
{ __atoll_settle; builtin trap - DEBUG; } >/dev/null 2>&1
builtin eval "$__atoll_cells"'
builtin declare -r __atoll_cells
builtin declare -rf __atoll_done __atoll_failed __atoll_receive __atoll_halt __atoll_stop __atoll_settle __atoll_answer \
  __atoll_await __atoll_lend

builtin trap : INT
builtin shopt -s expand_aliases
builtin eval "$__atoll_cells"
