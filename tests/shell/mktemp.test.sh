#### f=$(mktemp); [[ -f $f && $f == */tmp.?????????? ]] && echo yes; stat -c %a "$f"
f=$(mktemp); [[ -f $f && $f == */tmp.?????????? ]] && echo yes; stat -c %a "$f"
#| yes
#| 600

#### d=$(mktemp -d); [[ -d $d ]] && stat -c %a "$d"
d=$(mktemp -d); [[ -d $d ]] && stat -c %a "$d"
#| 700

#### f=$(mktemp x.XXXXXX); [[ $f == x.?????? && -f $f ]] && echo yes
f=$(mktemp x.XXXXXX); [[ $f == x.?????? && -f $f ]] && echo yes
#| yes

#### f=$(mktemp -u x.XXX); [[ $f == x.??? && ! -e $f ]] && echo yes
f=$(mktemp -u x.XXX); [[ $f == x.??? && ! -e $f ]] && echo yes
#| yes

#### f=$(mktemp -p . aXXXX); [[ $f == ./a???? ]] && echo yes
f=$(mktemp -p . aXXXX); [[ $f == ./a???? ]] && echo yes
#| yes

#### mkdir t; f=$(TMPDIR=t mktemp -t bXXXX); [[ $f == t/b???? ]] && echo yes
mkdir t; f=$(TMPDIR=t mktemp -t bXXXX); [[ $f == t/b???? ]] && echo yes
#| yes

#### f=$(mktemp --suffix=.txt aXXXX); [[ $f == a????.txt ]] && echo yes
f=$(mktemp --suffix=.txt aXXXX); [[ $f == a????.txt ]] && echo yes
#| yes

#### f=$(mktemp aXXXX.log); [[ $f == a????.log ]] && echo yes
f=$(mktemp aXXXX.log); [[ $f == a????.log ]] && echo yes
#| yes

#### mktemp aXX 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
mktemp aXX 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| mktemp: too few X's in template 'aXX'
#| 1

#### mktemp --suffix=a/b aXXX 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
mktemp --suffix=a/b aXXX 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| mktemp: invalid suffix 'a/b', contains directory separator
#| 1

#### mktemp none/aXXX 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
mktemp none/aXXX 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| mktemp: failed to create file via template 'none/aXXX': No such file or directory
#| 1

#### mktemp -q none/aXXX 2>&1; echo $?
mktemp -q none/aXXX 2>&1; echo $?
#| 1

#### mktemp a b 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
mktemp a b 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| mktemp: too many templates
#| Try 'mktemp --help' for more information.
#| 1

#### mktemp --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
mktemp --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| mktemp: unrecognized option '--nonsense'
#| Try 'mktemp --help' for more information.
#| 1

#### mktemp -d -p none aXXX 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
mktemp -d -p none aXXX 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| mktemp: failed to create directory via template 'none/aXXX': No such file or directory
#| 1

#### mktemp -t a/bXXX 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
mktemp -t a/bXXX 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| mktemp: invalid template, 'a/bXXX', contains directory separator
#| 1
