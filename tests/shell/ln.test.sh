#### echo x > a; ln a b; cat b; stat -c %h a
echo x > a; ln a b; cat b; stat -c %h a
#| x
#| 2

#### ln -s a b; readlink b
ln -s a b; readlink b
#| a

#### ln -s a b; ln -s a b; echo $?
ln -s a b; ln -s a b; echo $?
#| 1

#### ln -s a b; ln -sf c b; readlink b
ln -s a b; ln -sf c b; readlink b
#| c

#### ln missing b; echo $?
ln missing b; echo $?
#| 1

#### mkdir d; ln -s x d; readlink d/x
mkdir d; ln -s x d; readlink d/x
#| x

#### mkdir d; ln d e; echo $?
mkdir d; ln d e; echo $?
#| 1

#### ln
ln
#? 1

#### ln -sv a b
ln -sv a b
#| 'b' -> 'a'

#### mkdir -p a/b; touch a/f; ln -sr a/f a/b/l; readlink a/b/l
mkdir -p a/b; touch a/f; ln -sr a/f a/b/l; readlink a/b/l
#| ../f

#### readlink missing; echo $?
readlink missing; echo $?
#| 1

#### touch f; readlink f; echo $?
touch f; readlink f; echo $?
#| 1

#### mkdir d; ln -s d l; readlink -f l/x | sed 's|.*/||'
mkdir d; ln -s d l; readlink -f l/x | sed 's|.*/||'
#| x

#### ln -s a b; readlink -n b
ln -s a b; readlink -n b
#|- a

#### realpath missing/x; echo $?
realpath missing/x; echo $?
#| 1

#### mkdir d; cd d; realpath --relative-to=.. .
mkdir d; cd d; realpath --relative-to=.. .
#| d

#### mkdir -p a/b; realpath --relative-to=a a/b
mkdir -p a/b; realpath --relative-to=a a/b
#| b

#### realpath -m --relative-to=/a /a/b/../c
realpath -m --relative-to=/a /a/b/../c
#| c

#### realpath
realpath
#? 1

#### ln -s loop loop; readlink -f loop; echo $?
ln -s loop loop; readlink -f loop; echo $?
#| 1

