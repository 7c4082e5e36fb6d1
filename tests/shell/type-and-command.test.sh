#### type echo
type echo
#| echo is a shell builtin

#### type -t if echo ls nope; echo $?
type -t if echo ls nope; echo $?
#| keyword
#| builtin
#| file
#| 1

#### command -v echo
command -v echo
#| echo

#### command -v nope; echo $?
command -v nope; echo $?
#| 1

#### command echo hi
command echo hi
#| hi

#### f() { :; }; type -t f
f() { :; }; type -t f
#| function

#### alias
alias

#### shopt -s expand_aliases; alias hi="echo hello"; hi
shopt -s expand_aliases
alias hi="echo hello"
hi
#| hello

#### builtin echo x
builtin echo x
#| x

#### command -V cd
command -V cd
#| cd is a shell builtin

#### type -p nope; echo $?
type -p nope; echo $?
#| 1

#### echo() { builtin echo "[$@]"; }; echo a; unset -f echo
echo() { builtin echo "[$@]"; }; echo a; unset -f echo
#| [a]

#### nosuchcommand 2>/dev/null; echo $?
nosuchcommand 2>/dev/null; echo $?
#| 127

#### enable -n echo; type -t echo; enable echo; type -t echo
enable -n echo; type -t echo; enable echo; type -t echo
#| file
#| builtin

#### hash -r; echo $?
hash -r; echo $?
#| 0

#### unalias nope 2>/dev/null; echo $?
unalias nope 2>/dev/null; echo $?
#| 1
