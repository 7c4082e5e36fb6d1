#### cd /; pwd; cd - > /dev/null; cd /nonexistent 2>/dev/null; ec
cd /; pwd; cd - > /dev/null; cd /nonexistent 2>/dev/null; echo $?
#| /
#| 1

#### mkdir a; cd a; echo ${PWD##*/}; cd ..; [ -d a ] && echo y
mkdir a; cd a; echo ${PWD##*/}; cd ..; [ -d a ] && echo y
#| a
#| y

#### mkdir -p a/b; cd a/b; cd ../..; ls
mkdir -p a/b; cd a/b; cd ../..; ls
#| a

#### cd /; pushd /tmp > /dev/null; popd
cd /; pushd /tmp > /dev/null; popd
#| /

#### dirs -c; cd /; dirs
dirs -c; cd /; dirs
#| /

#### mkdir d; ln -s d l; cd l; echo ${PWD##*/}; cd -P .; echo ${P
mkdir d; ln -s d l; cd l; echo ${PWD##*/}; cd -P .; echo ${PWD##*/}
#| l
#| d

#### cd ""; echo $?
cd ""; echo $?
#| 0

#### unset HOME; cd 2>/dev/null; echo $?
unset HOME; cd 2>/dev/null; echo $?
#| 1

#### CDPATH=/; cd tmp; pwd
CDPATH=/; cd tmp; pwd
#| /tmp
#| /tmp
