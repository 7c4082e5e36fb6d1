# The bash kernel: executes cells in one shell and tells errors and the end on a private descriptor.
# Its own names begin with __atoll_. User code shares the shell: it can end it, and then the kernel is reported dead.
__atoll_fd=$ATOLL_CONTROL_FD
unset ATOLL_CONTROL_FD __atoll_line BASH_EXECUTION_STRING
__atoll_count=0
set +m

__atoll_done() { builtin printf 'D %d\n%s' "${#1}" "$1" >&"$__atoll_fd"; }

__atoll_failed() {
  builtin local LC_ALL=C text="exit status $1"
  builtin local body="${#2}"$'\n'"$2${#text}"$'\n'"$text${#text}"$'\n'"$text"
  builtin printf 'F %d\n%s' "${#body}" "$body" >&"$__atoll_fd"
}

# Reads one message into __atoll_kind and __atoll_body. Bytes, not characters.
__atoll_receive() {
  builtin local LC_ALL=C head
  IFS= builtin read -r -u "$__atoll_fd" head || builtin exit 0
  __atoll_kind=${head%% *} __atoll_body=
  (( ${head#* } == 0 )) || IFS= builtin read -r -d '' -N "${head#* }" -u "$__atoll_fd" __atoll_body || builtin exit 0
}

# An interrupt leaves all loops, and from then on no command of the cell is executed any more: with extdebug a DEBUG trap
# that returns 2 ends the sourced text it is in.
__atoll_halt() { [[ " ${FUNCNAME[*]} " != *" source "* ]] || return 2; }
__atoll_stop() {
  __atoll_stopped=1
  builtin shopt -s extdebug
  builtin trap __atoll_halt DEBUG
}

builtin trap : INT
builtin printf 'K 0\n' >&"$__atoll_fd"
while (( 1 )); do
  __atoll_changes=()
  while __atoll_receive; do
    case $__atoll_kind in
      V) __atoll_changes+=("$__atoll_body") ;;
      P) builtin export "${__atoll_body%%=*}=${__atoll_body#*=}" ;;
      X) builtin break ;;
    esac
  done
  __atoll_count=$((__atoll_count + 1))
  __atoll_before=()
  for __atoll_change in "${__atoll_changes[@]}"; do
    __atoll_name=${__atoll_change%%=*}
    if [[ -v $__atoll_name ]]; then
      __atoll_before+=("builtin export $__atoll_name=${!__atoll_name@Q}")
    else
      __atoll_before+=("builtin unset $__atoll_name")
    fi
    builtin export "$__atoll_name=${__atoll_change#*=}"
  done
  __atoll_stopped=0
  builtin trap '__atoll_stop; builtin break 999 2>/dev/null' INT
  # Sourced, not in a function: what the cell declares is global.
  builtin source <(builtin printf '%s\n' "$__atoll_body") {__atoll_fd}<&- </dev/null
  __atoll_status=$?
  # A function of the cell's may have any name. In POSIX mode "unset" is the shell's own whatever was defined, and with it
  # "builtin" is again what leads to all the others.
  POSIXLY_CORRECT=1
  unset -f unset builtin
  builtin unset POSIXLY_CORRECT
  builtin trap : INT
  builtin trap - DEBUG
  builtin shopt -u extdebug
  if (( __atoll_stopped )); then __atoll_status=130; fi
  for __atoll_change in "${__atoll_before[@]}"; do builtin eval "$__atoll_change"; done
  if (( __atoll_stopped )); then
    __atoll_failed 130 KeyboardInterrupt
  elif (( __atoll_status != 0 )); then
    __atoll_failed "$__atoll_status" ExitStatus
  fi
  __atoll_done "$__atoll_status $__atoll_count"
done
