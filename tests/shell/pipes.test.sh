#### echo a | cat | cat
echo a | cat | cat
#| a

#### false | true; echo $? ${PIPESTATUS[@]}
false | true; echo $? ${PIPESTATUS[@]}
#| 0 1 0

#### set -o pipefail; false | true; echo $?
set -o pipefail; false | true; echo $?
#| 1

#### echo a | read x; echo "[$x]"
echo a | read x; echo "[$x]"
#| []

#### shopt -s lastpipe; echo a | read x; echo "[$x]"
shopt -s lastpipe; echo a | read x; echo "[$x]"
#| [a]

#### { echo o; echo e >&2; } |& cat
{ echo o; echo e >&2; } |& cat
#| o
#| e

#### echo x | (cat; echo y)
echo x | (cat; echo y)
#| x
#| y

#### ! false | false; echo $?
! false | false; echo $?
#| 0

#### yes | head -n 2
yes | head -n 2
#| y
#| y

#### printf "b\na\n" | sort | head -1
printf "b\na\n" | sort | head -1
#| a

#### echo $(echo a | cat)
echo $(echo a | cat)
#| a
