#### set -e; false; echo no
set -e; false; echo no
#? 1

#### set -e; false || true; echo yes
set -e; false || true; echo yes
#| yes

#### set -e; if false; then :; fi; echo yes
set -e; if false; then :; fi; echo yes
#| yes

#### set -e; f() { false; echo in; }; f || echo or
set -e; f() { false; echo in; }; f || echo or
#| in

#### set -u; echo ${x-unset}; (echo $x) 2>/dev/null; echo $?
set -u; echo ${x-unset}; (echo $x) 2>/dev/null; echo $?
#| unset
#| 1

#### set -x; echo a 2>/dev/null
set -x; echo a 2>/dev/null
#| a

#### set -o | grep -c on$ > /dev/null; echo ok
set -o | grep -c on$ > /dev/null; echo ok
#| ok

#### set -e; x=$(false); echo no
set -e; x=$(false); echo no
#? 1

#### set -e; (false); echo no
set -e; (false); echo no
#? 1

#### set -e; ! true; echo yes
set -e; ! true; echo yes
#| yes

#### set -n; echo never
set -n; echo never

#### set -o errexit; set +o errexit; false; echo y
set -o errexit; set +o errexit; false; echo y
#| y

#### echo $-  | grep -c c
echo $-  | grep -c c
#| 1

#### set -e; false | true; echo yes
set -e; false | true; echo yes
#| yes

#### set -- a b c; echo $#; set --; echo $#
set -- a b c; echo $#; set --; echo $#
#| 3
#| 0

#### set -a; v=1; env | grep ^v=
set -a; v=1; env | grep ^v=
#| v=1
