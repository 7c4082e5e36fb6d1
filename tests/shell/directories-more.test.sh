#### mkdir a b; pushd a > /dev/null; pushd ../b > /dev/null; dirs | wc -w; popd > /dev/null; dirs -p | wc -l
mkdir a b; pushd a > /dev/null; pushd ../b > /dev/null; dirs | wc -w; popd > /dev/null; dirs -p | wc -l
#| 3
#| 2

#### mkdir a; cd a; pushd 2>&1; echo $?
mkdir a; cd a; pushd 2>&1; echo $?
#| bash: line 1: pushd: no other directory
#| 1

#### popd 2>&1; echo $?
popd 2>&1; echo $?
#| bash: line 1: popd: directory stack empty
#| 1

#### pushd none 2>&1; echo $?
pushd none 2>&1; echo $?
#| bash: line 1: pushd: none: No such file or directory
#| 1

#### mkdir a b c; pushd a; pushd ../b; pushd ../c; dirs -v | wc -l; pushd +1 > /dev/null; pwd | sed 's,.*/,,'; pushd -0 > /dev/null; pwd | sed 's,.*/,,'
mkdir a b c; pushd a; pushd ../b; pushd ../c; dirs -v | wc -l; pushd +1 > /dev/null; pwd | sed 's,.*/,,'; pushd -0 > /dev/null; pwd | sed 's,.*/,,'
#| ~/a ~
#| ~/b ~/a ~
#| ~/c ~/b ~/a ~
#| 4
#| b
#| c

#### mkdir a b; pushd -n a > /dev/null; dirs | wc -w; pwd | sed 's,.*/,,' | wc -l
mkdir a b; pushd -n a > /dev/null; dirs | wc -w; pwd | sed 's,.*/,,' | wc -l
#| 2
#| 1

#### mkdir a b; pushd a > /dev/null; pushd ../b > /dev/null; popd +1 > /dev/null; dirs | wc -w
mkdir a b; pushd a > /dev/null; pushd ../b > /dev/null; popd +1 > /dev/null; dirs | wc -w
#| 2

#### mkdir a b; pushd a > /dev/null; popd -n > /dev/null; pwd | sed 's,.*/,,'
mkdir a b; pushd a > /dev/null; popd -n > /dev/null; pwd | sed 's,.*/,,'
#| a

#### mkdir a; pushd a > /dev/null; dirs -c; dirs | wc -w
mkdir a; pushd a > /dev/null; dirs -c; dirs | wc -w
#| 1

#### dirs +9 2>&1; echo $?
dirs +9 2>&1; echo $?
#| bash: line 1: dirs: directory stack empty
#| 1

#### popd +9 2>&1; echo $?
popd +9 2>&1; echo $?
#| bash: line 1: popd: directory stack empty
#| 1

#### pushd +9 2>&1; echo $?
pushd +9 2>&1; echo $?
#| bash: line 1: pushd: directory stack empty
#| 1

#### dirs -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
dirs -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| bash: line 1: dirs: -z: invalid number
#| 2

#### mkdir a; pushd a > /dev/null; dirs +0 | sed 's,.*/,,'; dirs -0 | wc -l; dirs -l | wc -w
mkdir a; pushd a > /dev/null; dirs +0 | sed 's,.*/,,'; dirs -0 | wc -l; dirs -l | wc -w
#| a
#| 1
#| 2

#### cd none 2>&1; echo $?
cd none 2>&1; echo $?
#| bash: line 1: cd: none: No such file or directory
#| 1

#### touch f; cd f 2>&1; echo $?
touch f; cd f 2>&1; echo $?
#| bash: line 1: cd: f: Not a directory
#| 1

#### cd a b 2>&1; echo $?
cd a b 2>&1; echo $?
#| bash: line 1: cd: too many arguments
#| 1

#### cd -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
cd -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| bash: line 1: cd: -z: invalid option
#| 2

#### unset HOME; cd 2>&1; echo $?
unset HOME; cd 2>&1; echo $?
#| bash: line 1: cd: HOME not set
#| 1

#### unset OLDPWD; cd - 2>&1; echo $?
unset OLDPWD; cd - 2>&1; echo $?
#| bash: line 1: cd: OLDPWD not set
#| 1

#### mkdir d; ln -s d l; cd l; pwd | sed 's,.*/,,'; pwd -P | sed 's,.*/,,'; cd -P .; pwd | sed 's,.*/,,'
mkdir d; ln -s d l; cd l; pwd | sed 's,.*/,,'; pwd -P | sed 's,.*/,,'; cd -P .; pwd | sed 's,.*/,,'
#| l
#| d
#| d

#### mkdir d; ln -s d l; cd -P l; pwd | sed 's,.*/,,'
mkdir d; ln -s d l; cd -P l; pwd | sed 's,.*/,,'
#| d

#### pwd -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
pwd -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| bash: line 1: pwd: -z: invalid option
#| 2

#### shopt -s autocd; mkdir d; d 2>&1 | tail -1; echo $?
shopt -s autocd; mkdir d; d 2>&1 | tail -1; echo $?
#| bash: line 1: d: command not found
#| 0

#### mkdir dir1; shopt -s cdspell; cd dri1 2>/dev/null; echo $?
mkdir dir1; shopt -s cdspell; cd dri1 2>/dev/null; echo $?
#| 1

#### v=/; shopt -s cdable_vars; cd v > /dev/null; pwd
v=/; shopt -s cdable_vars; cd v > /dev/null; pwd
#| /

#### cd ''; echo $?
cd ''; echo $?
#| 0

#### CDPATH names the directory that was found
mkdir -p x/sub; CDPATH=x; cd sub > /dev/null; pwd | sed 's,.*/,,'
#| sub

#### cd - says where it goes
mkdir -p d/e; cd d/e; cd ../..; cd - | sed 's,.*/,,'
#| e
