#### touch a 'b c' "d'e"; for q in literal shell shell-always shell-escape shell-escape-always c c-maybe escape locale; do echo "$q"; ls --quoting-style=$q; done
touch a 'b c' "d'e"; for q in literal shell shell-always shell-escape shell-escape-always c c-maybe escape locale; do echo "$q"; ls --quoting-style=$q; done
#| literal
#| a
#| b c
#| d'e
#| shell
#| a
#| 'b c'
#| "d'e"
#| shell-always
#| 'a'
#| 'b c'
#| "d'e"
#| shell-escape
#| a
#| 'b c'
#| "d'e"
#| shell-escape-always
#| 'a'
#| 'b c'
#| "d'e"
#| c
#| "a"
#| "b c"
#| "d'e"
#| c-maybe
#| a
#| b c
#| d'e
#| escape
#| a
#| b\ c
#| d'e
#| locale
#| 'a'
#| 'b c'
#| 'd'e'

#### touch $'n\nl' $'t\tb'; ls -b
touch $'n\nl' $'t\tb'; ls -b
#| n\nl
#| t\tb

#### touch $'n\nl' $'t\tb'; ls -q
touch $'n\nl' $'t\tb'; ls -q
#| n?l
#| t?b

#### touch $'n\nl' $'t\tb'; ls -Q
touch $'n\nl' $'t\tb'; ls -Q
#| "n\nl"
#| "t\tb"

#### touch $'n\nl' $'t\tb'; ls --quoting-style=shell-escape
touch $'n\nl' $'t\tb'; ls --quoting-style=shell-escape
#| 'n'$'\n''l'
#| 't'$'\t''b'

#### touch $'n\nl'; ls -q --show-control-chars
touch $'n\nl'; ls -q --show-control-chars
#| n
#| l

#### touch a; ls --quoting-style=foo 2>&1; echo $?
touch a; ls --quoting-style=foo 2>&1; echo $?
#| ls: invalid argument 'foo' for '--quoting-style'
#| Valid arguments are:
#|   - 'literal'
#|   - 'shell'
#|   - 'shell-always'
#|   - 'shell-escape'
#|   - 'shell-escape-always'
#|   - 'c'
#|   - 'c-maybe'
#|   - 'escape'
#|   - 'locale'
#|   - 'clocale'
#| Try 'ls --help' for more information.
#| 1

#### touch aaaa bb c; ls --sort=width; ls --sort=none -U | sort
touch aaaa bb c; ls --sort=width; ls --sort=none -U | sort
#| c
#| bb
#| aaaa
#| aaaa
#| bb
#| c

#### touch a.c b.a c.b; ls -X; ls --sort=extension
touch a.c b.a c.b; ls -X; ls --sort=extension
#| b.a
#| c.b
#| a.c
#| b.a
#| c.b
#| a.c

#### printf 12345 > a; printf 1 > b; ls -S
printf 12345 > a; printf 1 > b; ls -S
#| a
#| b

#### printf 12345 > a; printf 1 > b; ls --sort=size
printf 12345 > a; printf 1 > b; ls --sort=size
#| a
#| b

#### printf 12345 > a; printf 1 > b; ls -Sr
printf 12345 > a; printf 1 > b; ls -Sr
#| b
#| a

#### touch f1 f10 f2; ls -v; ls --sort=version
touch f1 f10 f2; ls -v; ls --sort=version
#| f1
#| f2
#| f10
#| f1
#| f2
#| f10

#### touch -d 2001-01-01 a; touch -d 2002-01-01 b; ls -t
touch -d 2001-01-01 a; touch -d 2002-01-01 b; ls -t
#| b
#| a

#### touch -d 2001-01-01 a; touch -d 2002-01-01 b; ls --sort=time
touch -d 2001-01-01 a; touch -d 2002-01-01 b; ls --sort=time
#| b
#| a

#### touch -d 2001-01-01 a; touch -d 2002-01-01 b; ls -tr
touch -d 2001-01-01 a; touch -d 2002-01-01 b; ls -tr
#| a
#| b

#### touch a; ls --sort=foo 2>&1 | head -1
touch a; ls --sort=foo 2>&1 | head -1
#| ls: invalid argument 'foo' for '--sort'

#### touch a b c; ls -m
touch a b c; ls -m
#| a, b, c

#### touch a b c; ls --format=commas
touch a b c; ls --format=commas
#| a, b, c

#### touch a b c; ls --format=single-column
touch a b c; ls --format=single-column
#| a
#| b
#| c

#### touch a b c; ls --format=across
touch a b c; ls --format=across
#| a  b  c

#### touch a b c; ls -x
touch a b c; ls -x
#| a  b  c

#### touch a b c; ls --format=vertical
touch a b c; ls --format=vertical
#| a  b  c

#### touch a; ls --format=foo 2>&1; echo $?
touch a; ls --format=foo 2>&1; echo $?
#| ls: invalid argument 'foo' for '--format'
#| Valid arguments are:
#|   - 'verbose', 'long'
#|   - 'commas'
#|   - 'horizontal', 'across'
#|   - 'vertical'
#|   - 'single-column'
#| Try 'ls --help' for more information.
#| 1

#### touch abcdefghij abcdefghi b ccccccccccc dd; ls -C
touch abcdefghij abcdefghi b ccccccccccc dd; ls -C
#| abcdefghi  abcdefghij  b  ccccccccccc  dd

#### touch abcdefghij abcdefghi b ccccccccccc dd; ls -Cw30
touch abcdefghij abcdefghi b ccccccccccc dd; ls -Cw30
#| abcdefghi   b		 dd
#| abcdefghij  ccccccccccc

#### touch abcdefghij abcdefghi b ccccccccccc dd; ls -Cw20 -T0
touch abcdefghij abcdefghi b ccccccccccc dd; ls -Cw20 -T0
#| abcdefghi
#| abcdefghij
#| b
#| ccccccccccc
#| dd

#### touch abcdefghij abcdefghi b ccccccccccc dd; ls -x -w 30
touch abcdefghij abcdefghi b ccccccccccc dd; ls -x -w 30
#| abcdefghi    abcdefghij  b
#| ccccccccccc  dd

#### touch abcdefghij abcdefghi b ccccccccccc dd; COLUMNS=25 ls -C
touch abcdefghij abcdefghi b ccccccccccc dd; COLUMNS=25 ls -C
#| abcdefghi   ccccccccccc
#| abcdefghij  dd
#| b

#### touch a; ls -w foo 2>&1; echo $?
touch a; ls -w foo 2>&1; echo $?
#| ls: invalid line width: 'foo'
#| 2

#### touch a; ls -T foo 2>&1; echo $?
touch a; ls -T foo 2>&1; echo $?
#| ls: invalid tab size: 'foo'
#| 2

#### touch a b.txt c~ .d .e~; ls -B
touch a b.txt c~ .d .e~; ls -B
#| a
#| b.txt

#### touch a b.txt c~ .d .e~; ls -AB
touch a b.txt c~ .d .e~; ls -AB
#| .d
#| a
#| b.txt

#### touch a b.txt c~ .d .e~; ls -I '*.txt'
touch a b.txt c~ .d .e~; ls -I '*.txt'
#| a
#| c~

#### touch a b.txt c~ .d .e~; ls --hide='*.txt'
touch a b.txt c~ .d .e~; ls --hide='*.txt'
#| a
#| c~

#### touch a b.txt c~ .d .e~; ls -a --hide='*.txt'
touch a b.txt c~ .d .e~; ls -a --hide='*.txt'
#| .
#| ..
#| .d
#| .e~
#| a
#| b.txt
#| c~

#### touch a b.txt c~ .d .e~; ls -A --ignore='*.txt'
touch a b.txt c~ .d .e~; ls -A --ignore='*.txt'
#| .d
#| .e~
#| a
#| c~

#### mkdir d; touch f x; chmod +x x; ln -s f l; mkfifo p; ls -F
mkdir d; touch f x; chmod +x x; ln -s f l; mkfifo p; ls -F
#| d/
#| f
#| l@
#| p|
#| x*

#### mkdir d; touch f x; chmod +x x; ln -s f l; mkfifo p; ls -p
mkdir d; touch f x; chmod +x x; ln -s f l; mkfifo p; ls -p
#| d/
#| f
#| l
#| p
#| x

#### mkdir d; touch f x; chmod +x x; ln -s f l; mkfifo p; ls --file-type
mkdir d; touch f x; chmod +x x; ln -s f l; mkfifo p; ls --file-type
#| d/
#| f
#| l@
#| p|
#| x

#### mkdir d; touch f x; chmod +x x; ln -s f l; mkfifo p; ls --indicator-style=slash
mkdir d; touch f x; chmod +x x; ln -s f l; mkfifo p; ls --indicator-style=slash
#| d/
#| f
#| l
#| p
#| x

#### mkdir d; touch f x; chmod +x x; ln -s f l; mkfifo p; ls --classify
mkdir d; touch f x; chmod +x x; ln -s f l; mkfifo p; ls --classify
#| d/
#| f
#| l@
#| p|
#| x*

#### mkdir d; touch f x; chmod +x x; ln -s f l; mkfifo p; ls --classify=always
mkdir d; touch f x; chmod +x x; ln -s f l; mkfifo p; ls --classify=always
#| d/
#| f
#| l@
#| p|
#| x*

#### mkdir d; touch f x; chmod +x x; ln -s f l; mkfifo p; ls --classify=never
mkdir d; touch f x; chmod +x x; ln -s f l; mkfifo p; ls --classify=never
#| d
#| f
#| l
#| p
#| x

#### touch a; ls --indicator-style=foo 2>&1; echo $?
touch a; ls --indicator-style=foo 2>&1; echo $?
#| ls: invalid argument 'foo' for '--indicator-style'
#| Valid arguments are:
#|   - 'none'
#|   - 'slash'
#|   - 'file-type'
#|   - 'classify'
#| Try 'ls --help' for more information.
#| 1

#### mkdir d; touch a d/f e; ls --group-directories-first; ls --group-directories-first -r
mkdir d; touch a d/f e; ls --group-directories-first; ls --group-directories-first -r
#| d
#| a
#| e
#| d
#| e
#| a

#### mkdir d; touch -d 2001-02-03 d/f; ln -s d k; ls -dF k
mkdir d; touch -d 2001-02-03 d/f; ln -s d k; ls -dF k
#| k@

#### mkdir d; touch -d 2001-02-03 d/f; ln -s d k; ls k
mkdir d; touch -d 2001-02-03 d/f; ln -s d k; ls k
#| f

#### mkdir d; touch -d 2001-02-03 d/f; ln -s d k; ls -H k
mkdir d; touch -d 2001-02-03 d/f; ln -s d k; ls -H k
#| f

#### mkdir d; touch -d 2001-02-03 d/f; ln -s d k; ls -l k | cut -c1
mkdir d; touch -d 2001-02-03 d/f; ln -s d k; ls -l k | cut -c1
#| l

#### mkdir d; touch -d 2001-02-03 d/f; ln -s d k; ls --dereference-command-line-symlink-to-dir -l k | sed 1d | cut -c1
mkdir d; touch -d 2001-02-03 d/f; ln -s d k; ls --dereference-command-line-symlink-to-dir -l k | sed 1d | cut -c1
#| -

#### touch -d '2001-02-03 04:05:06' f; ls -l --time-style=full-iso | sed 1d | cut -d' ' -f6-
touch -d '2001-02-03 04:05:06' f; ls -l --time-style=full-iso | sed 1d | cut -d' ' -f6-
#| 2001-02-03 04:05:06.000000000 +0000 f

#### touch -d '2001-02-03 04:05:06' f; ls -l --time-style=long-iso | sed 1d | cut -d' ' -f6-
touch -d '2001-02-03 04:05:06' f; ls -l --time-style=long-iso | sed 1d | cut -d' ' -f6-
#| 2001-02-03 04:05 f

#### touch -d '2001-02-03 04:05:06' f; ls -l --time-style=iso | sed 1d | cut -d' ' -f6-
touch -d '2001-02-03 04:05:06' f; ls -l --time-style=iso | sed 1d | cut -d' ' -f6-
#| 2001-02-03  f

#### touch -d '2001-02-03 04:05:06' f; ls -l --time-style=+%Y f | cut -d' ' -f6-
touch -d '2001-02-03 04:05:06' f; ls -l --time-style=+%Y f | cut -d' ' -f6-
#| 2001 f

#### touch -d '2001-02-03 04:05:06' f; ls --full-time f | cut -d' ' -f6-
touch -d '2001-02-03 04:05:06' f; ls --full-time f | cut -d' ' -f6-
#| 2001-02-03 04:05:06.000000000 +0000 f

#### touch -d '2001-02-03 04:05:06' f; TIME_STYLE=long-iso ls -l f | cut -d' ' -f6-
touch -d '2001-02-03 04:05:06' f; TIME_STYLE=long-iso ls -l f | cut -d' ' -f6-
#| 2001-02-03 04:05 f

#### touch -d 2001-02-03 o; touch n; ls -l --time-style=$'+old\nnew' o n | cut -d' ' -f6-
touch -d 2001-02-03 o; touch n; ls -l --time-style=$'+old\nnew' o n | cut -d' ' -f6-
#| new n
#| old o

#### touch f; ls -l --time-style=foo 2>&1; echo $?
touch f; ls -l --time-style=foo 2>&1; echo $?
#| ls: invalid argument 'foo' for 'time style'
#| Valid arguments are:
#|   - [posix-]full-iso
#|   - [posix-]long-iso
#|   - [posix-]iso
#|   - [posix-]locale
#|   - +FORMAT (e.g., +%H:%M) for a 'date'-style format
#| Try 'ls --help' for more information.
#| 2

#### touch -d 2001-02-03 f; ls --time=foo 2>&1 | head -1
touch -d 2001-02-03 f; ls --time=foo 2>&1 | head -1
#| ls: invalid argument 'foo' for '--time'

#### touch -d 2001-02-03 f; touch -d 2002-01-01 g; ls --time=mtime -t 2>/dev/null || ls -t
touch -d 2001-02-03 f; touch -d 2002-01-01 g; ls --time=mtime -t 2>/dev/null || ls -t
#| g
#| f

#### printf 'x%.0s' {1..5000} > f; ls -s f
printf 'x%.0s' {1..5000} > f; ls -s f
#| 8 f

#### printf 'x%.0s' {1..5000} > f; ls -sk f
printf 'x%.0s' {1..5000} > f; ls -sk f
#| 8 f

#### printf 'x%.0s' {1..5000} > f; ls -l --block-size=1K f | cut -d' ' -f5
printf 'x%.0s' {1..5000} > f; ls -l --block-size=1K f | cut -d' ' -f5
#| 5

#### printf 'x%.0s' {1..5000} > f; ls -l --block-size=K f | cut -d' ' -f5
printf 'x%.0s' {1..5000} > f; ls -l --block-size=K f | cut -d' ' -f5
#| 5K

#### printf 'x%.0s' {1..5000} > f; ls -lh f | cut -d' ' -f5
printf 'x%.0s' {1..5000} > f; ls -lh f | cut -d' ' -f5
#| 4.9K

#### printf 'x%.0s' {1..5000} > f; ls -l --si f | cut -d' ' -f5
printf 'x%.0s' {1..5000} > f; ls -l --si f | cut -d' ' -f5
#| 5.0k

#### printf 'x%.0s' {1..5000} > f; ls -l --block-size=human-readable f | cut -d' ' -f5
printf 'x%.0s' {1..5000} > f; ls -l --block-size=human-readable f | cut -d' ' -f5
#| 4.9K

#### touch f; ls --block-size=foo 2>&1; echo $?
touch f; ls --block-size=foo 2>&1; echo $?
#| ls: invalid --block-size argument 'foo'
#| 2

#### touch f; ls --block-size=4q 2>&1; echo $?
touch f; ls --block-size=4q 2>&1; echo $?
#| ls: invalid suffix in --block-size argument '4q'
#| 2

#### touch f; chmod 640 f; ls -l f | cut -d' ' -f1,2
touch f; chmod 640 f; ls -l f | cut -d' ' -f1,2
#| -rw-r----- 1

#### touch f; chmod 640 f; ls -g f | wc -w
touch f; chmod 640 f; ls -g f | wc -w
#| 8

#### touch f; chmod 640 f; ls -o f | wc -w
touch f; chmod 640 f; ls -o f | wc -w
#| 8

#### touch f; chmod 640 f; ls -lG f | wc -w
touch f; chmod 640 f; ls -lG f | wc -w
#| 8

#### touch f; chmod 640 f; ls -l --author f | wc -w
touch f; chmod 640 f; ls -l --author f | wc -w
#| 10

#### touch f; chmod 640 f; ls -lZ f | wc -w
touch f; chmod 640 f; ls -lZ f | wc -w
#| 10

#### touch f; chmod 640 f; ls -Z f
touch f; chmod 640 f; ls -Z f
#| ? f

#### touch a b; ls --zero | od -c; ls -l --zero | tr '\0' '\n' | wc -l
touch a b; ls --zero | od -c; ls -l --zero | tr '\0' '\n' | wc -l
#| 0000000   a  \0   b  \0
#| 0000004
#| 3

#### mkdir -p d/e; touch d/e/f d/g; ls -R; ls -R d
mkdir -p d/e; touch d/e/f d/g; ls -R; ls -R d
#| .:
#| d
#|
#| ./d:
#| e
#| g
#|
#| ./d/e:
#| f
#| d:
#| e
#| g
#|
#| d/e:
#| f

#### touch b a; ls -f | sort; ls -U | sort
touch b a; ls -f | sort; ls -U | sort
#| .
#| ..
#| a
#| b
#| a
#| b

#### mkdir d; touch d/f; ls -d d; ls -d */
mkdir d; touch d/f; ls -d d; ls -d */
#| d
#| d/

#### touch a .b; ls -a
touch a .b; ls -a
#| .
#| ..
#| .b
#| a

#### touch a .b; ls -A
touch a .b; ls -A
#| .b
#| a

#### touch a .b; ls --almost-all
touch a .b; ls --almost-all
#| .b
#| a

#### touch f; ls --color=always | cat -v; mkdir d
touch f; ls --color=always | cat -v; mkdir d
#| f

#### touch f; ls --color=never
touch f; ls --color=never
#| f

#### touch f; ls --color=auto
touch f; ls --color=auto
#| f

#### touch f; ls --color=foo 2>&1 | head -1
touch f; ls --color=foo 2>&1 | head -1
#| ls: invalid argument 'foo' for '--color'

#### ls --frob 2>&1; echo $?
ls --frob 2>&1; echo $?
#| ls: unrecognized option '--frob'
#| Try 'ls --help' for more information.
#| 2

#### ls -e 2>&1; echo $?
ls -e 2>&1; echo $?
#| ls: invalid option -- 'e'
#| Try 'ls --help' for more information.
#| 2

#### ls --rev=3 2>&1; echo $?
ls --rev=3 2>&1; echo $?
#| ls: option '--reverse' doesn't allow an argument
#| Try 'ls --help' for more information.
#| 2

#### ls --h 2>&1 | sed 's/;.*//'; echo $?
ls --h 2>&1 | sed 's/;.*//'; echo $?
#| ls: option '--h' is ambiguous
#| Try 'ls --help' for more information.
#| 0

#### ls nothing 2>&1; echo $?
ls nothing 2>&1; echo $?
#| ls: cannot access 'nothing': No such file or directory
#| 2

#### touch f; ls f/x 2>&1; echo $?
touch f; ls f/x 2>&1; echo $?
#| ls: cannot access 'f/x': Not a directory
#| 2

#### touch a b; ls -i | wc -w; ls -1i | awk '{print NF}'
touch a b; ls -i | wc -w; ls -1i | awk '{print NF}'
#| 4
#| 2
#| 2

#### touch f; dir; vdir | sed 1d | cut -c1-10
touch f; dir; vdir | sed 1d | cut -c1-10
#| f
#| -rw-r--r--

#### touch f; readlink -f f | sed 's|.*/||'; ln -s f l
touch f; readlink -f f | sed 's|.*/||'; ln -s f l
#| f

#### touch f; readlink l
touch f; readlink l
#? 1

#### touch f; readlink -n l; echo
touch f; readlink -n l; echo
#|

#### touch f; readlink -z l | od -c
touch f; readlink -z l | od -c
#| 0000000

#### touch f; readlink -v f 2>&1; echo $?
touch f; readlink -v f 2>&1; echo $?
#| readlink: f: Invalid argument
#| 1

#### touch f; readlink f; echo $?
touch f; readlink f; echo $?
#| 1

#### readlink 2>&1; echo $?
readlink 2>&1; echo $?
#| readlink: missing operand
#| Try 'readlink --help' for more information.
#| 1

#### ln -s no/x l; readlink -f l; echo $?
ln -s no/x l; readlink -f l; echo $?
#| 1

#### ln -s no/x l; readlink -e l; echo $?
ln -s no/x l; readlink -e l; echo $?
#| 1

#### ln -s no/x l; readlink -m l | sed 's|.*/no|no|'
ln -s no/x l; readlink -m l | sed 's|.*/no|no|'
#| no/x

#### mkdir -p a/b; realpath --relative-to=a a/b/c
mkdir -p a/b; realpath --relative-to=a a/b/c
#| b/c

#### mkdir -p a/b; realpath --relative-base=a a/b | sed 's|.*/||'
mkdir -p a/b; realpath --relative-base=a a/b | sed 's|.*/||'
#| b

#### mkdir -p a/b; realpath -e a/x 2>&1 | sed 's|.*/||'
mkdir -p a/b; realpath -e a/x 2>&1 | sed 's|.*/||'
#| x: No such file or directory

#### mkdir -p a/b; realpath -m x/y/z --relative-to=.
mkdir -p a/b; realpath -m x/y/z --relative-to=.
#| x/y/z

#### mkdir -p a/b; realpath -q x/y/z; echo $?
mkdir -p a/b; realpath -q x/y/z; echo $?
#| 1

#### mkdir -p a/b; realpath -z a --relative-to=. | od -c
mkdir -p a/b; realpath -z a --relative-to=. | od -c
#| 0000000   a  \0
#| 0000002

#### realpath 2>&1; echo $?
realpath 2>&1; echo $?
#| realpath: missing operand
#| Try 'realpath --help' for more information.
#| 1

#### mkdir -p a/b; ln -s a/b l; realpath -s --relative-to=. l/..
mkdir -p a/b; ln -s a/b l; realpath -s --relative-to=. l/..
#| .

#### mkdir -p a/b; ln -s a/b l; realpath -L --relative-to=. l/..
mkdir -p a/b; ln -s a/b l; realpath -L --relative-to=. l/..
#| .

#### mkdir -p a/b; ln -s a/b l; realpath -P --relative-to=. l/..
mkdir -p a/b; ln -s a/b l; realpath -P --relative-to=. l/..
#| a

#### echo abc > f; chmod 644 f; stat -c '%n %s %a %A %F %h' f
echo abc > f; chmod 644 f; stat -c '%n %s %a %A %F %h' f
#| f 4 644 -rw-r--r-- regular file 1

#### echo abc > f; chmod 644 f; stat --format=%s f
echo abc > f; chmod 644 f; stat --format=%s f
#| 4

#### echo abc > f; chmod 644 f; stat --printf='%s\n%n\t|\n' f
echo abc > f; chmod 644 f; stat --printf='%s\n%n\t|\n' f
#| 4
#| f	|

#### echo abc > f; chmod 644 f; stat -c %N f; ln -s f l
echo abc > f; chmod 644 f; stat -c %N f; ln -s f l
#| 'f'

#### echo abc > f; chmod 644 f; stat -c '%N %F' l
echo abc > f; chmod 644 f; stat -c '%N %F' l
#? 1

#### echo abc > f; chmod 644 f; stat -L -c %F l
echo abc > f; chmod 644 f; stat -L -c %F l
#? 1

#### stat 2>&1; echo $?
stat 2>&1; echo $?
#| stat: missing operand
#| Try 'stat --help' for more information.
#| 1

#### stat nothing 2>&1; echo $?
stat nothing 2>&1; echo $?
#| stat: cannot statx 'nothing': No such file or directory
#| 1

#### touch f; stat -c '%04a %-6s| %6s|' f
touch f; stat -c '%04a %-6s| %6s|' f
#| 0644 0     |      0|

#### touch f; stat --cached=never -c %s f
touch f; stat --cached=never -c %s f
#| 0

#### touch f; stat --cached=foo f 2>&1 | head -1
touch f; stat --cached=foo f 2>&1 | head -1
#| stat: invalid argument 'foo' for '--cached'

#### touch f; stat -f -c '%n %l %s %S %T' f | wc -w; stat -f nothing 2>&1
touch f; stat -f -c '%n %l %s %S %T' f | wc -w; stat -f nothing 2>&1
#| 5
#| stat: cannot read file system information for 'nothing': No such file or directory
#? 1

#### mkdir d; echo x > f; ln -s f l; file f d l
mkdir d; echo x > f; ln -s f l; file f d l
#| f: ASCII text
#| d: directory
#| l: symbolic link to f

#### mkdir d; echo x > f; ln -s f l; file -b f
mkdir d; echo x > f; ln -s f l; file -b f
#| ASCII text

#### mkdir d; echo x > f; ln -s f l; file -i f
mkdir d; echo x > f; ln -s f l; file -i f
#| f: text/plain; charset=us-ascii

#### mkdir d; echo x > f; ln -s f l; file --mime-type f
mkdir d; echo x > f; ln -s f l; file --mime-type f
#| f: text/plain

#### mkdir d; echo x > f; ln -s f l; file --mime-encoding f
mkdir d; echo x > f; ln -s f l; file --mime-encoding f
#| f: us-ascii

#### mkdir d; echo x > f; ln -s f l; file -L l
mkdir d; echo x > f; ln -s f l; file -L l
#| l: ASCII text

#### mkdir d; echo x > f; ln -s f l; file -N f
mkdir d; echo x > f; ln -s f l; file -N f
#| f: ASCII text

#### mkdir d; echo x > f; ln -s f l; file -F = f
mkdir d; echo x > f; ln -s f l; file -F = f
#| f= ASCII text

#### mkdir d; echo x > f; ln -s f l; file -0 f | od -c
mkdir d; echo x > f; ln -s f l; file -0 f | od -c
#| 0000000   f  \0   :       A   S   C   I   I       t   e   x   t  \n
#| 0000017

#### mkdir d; echo x > f; ln -s f l; file - < f
mkdir d; echo x > f; ln -s f l; file - < f
#| /dev/stdin: ASCII text

#### mkdir d; echo x > f; ln -s f l; file nothing
mkdir d; echo x > f; ln -s f l; file nothing
#| nothing: cannot open `nothing' (No such file or directory)

#### mkdir d; echo x > f; ln -s f l; file --extension f; echo f > list
mkdir d; echo x > f; ln -s f l; file --extension f; echo f > list
#| f: ???

#### mkdir d; echo x > f; ln -s f l; file -f list
mkdir d; echo x > f; ln -s f l; file -f list
#? 1

#### file 2>&1 | head -1; echo ${PIPESTATUS[0]}
file 2>&1 | head -1; echo ${PIPESTATUS[0]}
#| Usage: file [-bcCdEhikLlNnprsSvzZ0] [--apple] [--extension] [--mime-encoding]
#| 1

#### touch f; chmod 600 f
touch f; chmod 600 f

#### touch f; chmod -v 640 f
touch f; chmod -v 640 f
#| mode of 'f' changed from 0644 (rw-r--r--) to 0640 (rw-r-----)

#### touch f; chmod -c 640 f
touch f; chmod -c 640 f
#| mode of 'f' changed from 0644 (rw-r--r--) to 0640 (rw-r-----)

#### touch f; chmod -c 600 f
touch f; chmod -c 600 f
#| mode of 'f' changed from 0644 (rw-r--r--) to 0600 (rw-------)

#### touch f; chmod u+x,g=r f; stat -c %a f
touch f; chmod u+x,g=r f; stat -c %a f
#| 744

#### touch f; chmod --reference=f f
touch f; chmod --reference=f f

#### touch f; chmod -f 777 nothing; echo $?
touch f; chmod -f 777 nothing; echo $?
#| 1

#### touch f; chmod a-x,o= f; stat -c %a f
touch f; chmod a-x,o= f; stat -c %a f
#| 640

#### chmod 2>&1; echo $?
chmod 2>&1; echo $?
#| chmod: missing operand
#| Try 'chmod --help' for more information.
#| 1

#### chmod 644 2>&1; echo $?
chmod 644 2>&1; echo $?
#| chmod: missing operand after '644'
#| Try 'chmod --help' for more information.
#| 1

#### chmod foo f 2>&1; echo $?
chmod foo f 2>&1; echo $?
#| chmod: invalid mode: 'foo'
#| Try 'chmod --help' for more information.
#| 1

#### chmod 644 nothing 2>&1; echo $?
chmod 644 nothing 2>&1; echo $?
#| chmod: cannot access 'nothing': No such file or directory
#| 1

#### touch f; chmod -x f; stat -c %a f; chmod -rw f; stat -c %a f
touch f; chmod -x f; stat -c %a f; chmod -rw f; stat -c %a f
#| 644
#| 0

#### mkdir -p d/e; touch d/f; chmod -R 700 d; stat -c %a d d/e d/f; chmod -Rv 755 d | sort
mkdir -p d/e; touch d/f; chmod -R 700 d; stat -c %a d d/e d/f; chmod -Rv 755 d | sort
#| 700
#| 700
#| 700
#| mode of 'd' changed from 0700 (rwx------) to 0755 (rwxr-xr-x)
#| mode of 'd/e' changed from 0700 (rwx------) to 0755 (rwxr-xr-x)
#| mode of 'd/f' changed from 0700 (rwx------) to 0755 (rwxr-xr-x)

#### ln -s nothing l; chmod 644 l 2>&1; echo $?
ln -s nothing l; chmod 644 l 2>&1; echo $?
#| chmod: cannot operate on dangling symlink 'l'
#| 1

#### chmod -R 755 --preserve-root / 2>&1; echo $?
chmod -R 755 --preserve-root / 2>&1; echo $?
#~ nothing to ask an original
#| chmod: it is dangerous to operate recursively on '/'
#| chmod: use --no-preserve-root to override this failsafe
#| 1

#### touch f; chown -c "$(id -u)" f
touch f; chown -c "$(id -u)" f

#### touch f; chown -v "$(id -u):$(id -g)" f | sed 's/[0-9]*:[0-9]*$//;s/ as .*//'
touch f; chown -v "$(id -u):$(id -g)" f | sed 's/[0-9]*:[0-9]*$//;s/ as .*//'
#| ownership of 'f' retained

#### touch f; chown --reference=f f; echo $?
touch f; chown --reference=f f; echo $?
#| 0

#### touch f; chown nosuchuser f 2>&1; echo $?; chgrp nosuchgroup f 2>&1; echo $?
touch f; chown nosuchuser f 2>&1; echo $?; chgrp nosuchgroup f 2>&1; echo $?
#| chown: invalid user: 'nosuchuser'
#| 1
#| chgrp: invalid group: 'nosuchgroup'
#| 1

#### chown 2>&1; echo $?
chown 2>&1; echo $?
#| chown: missing operand
#| Try 'chown --help' for more information.
#| 1

#### chown 1 2>&1; echo $?
chown 1 2>&1; echo $?
#| chown: missing operand after '1'
#| Try 'chown --help' for more information.
#| 1

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -b d/f d/e/g
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -b d/f d/e/g
#| 5000	d/f
#| 2	d/e/g

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -a d | wc -l
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -a d | wc -l
#| 4

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -s d | cut -f2
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -s d | cut -f2
#| d

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -sh d/f
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -sh d/f
#| 8.0K	d/f

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -d1 d | cut -f2
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -d1 d | cut -f2
#| d/e
#| d

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du --max-depth=0 d | cut -f2
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du --max-depth=0 d | cut -f2
#| d

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -k d/f
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -k d/f
#| 8	d/f

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -m d/f
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -m d/f
#| 1	d/f

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du --apparent-size -B1 d/f
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du --apparent-size -B1 d/f
#| 5000	d/f

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -0 d/f | tr '\0' '!'; echo
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -0 d/f | tr '\0' '!'; echo
#| 8	d/f!

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -c d/f d/e/g | cut -f2
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -c d/f d/e/g | cut -f2
#| d/f
#| d/e/g
#| total

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du --si d/f
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du --si d/f
#| 8.2k	d/f

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -BK d/f
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -BK d/f
#| 8K	d/f

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du --inodes d
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du --inodes d
#| 2	d/e
#| 4	d

#### mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -S d | cut -f2
mkdir -p d/e; printf 'x%.0s' {1..5000} > d/f; echo y > d/e/g; du -S d | cut -f2
#| d/e
#| d

#### mkdir d; echo y > d/g; printf 'x%.0s' {1..9000} > d/f; du -a -t 8K d/f d/g
mkdir d; echo y > d/g; printf 'x%.0s' {1..9000} > d/f; du -a -t 8K d/f d/g
#| 12	d/f

#### mkdir d; echo y > d/g; printf 'x%.0s' {1..9000} > d/f; du -a --threshold=-5K d/f d/g
mkdir d; echo y > d/g; printf 'x%.0s' {1..9000} > d/f; du -a --threshold=-5K d/f d/g
#| 4	d/g

#### mkdir d; echo y > d/g; printf 'x%.0s' {1..9000} > d/f; du --exclude='*g' -a d | cut -f2; echo '*f' > x
mkdir d; echo y > d/g; printf 'x%.0s' {1..9000} > d/f; du --exclude='*g' -a d | cut -f2; echo '*f' > x
#| d/f
#| d

#### mkdir d; echo y > d/g; printf 'x%.0s' {1..9000} > d/f; du -X x -a d | cut -f2
mkdir d; echo y > d/g; printf 'x%.0s' {1..9000} > d/f; du -X x -a d | cut -f2

#### mkdir d; echo y > d/g; printf 'x%.0s' {1..9000} > d/f; printf 'd/f\0d/g\0' | du --files0-from=- | cut -f2
mkdir d; echo y > d/g; printf 'x%.0s' {1..9000} > d/f; printf 'd/f\0d/g\0' | du --files0-from=- | cut -f2
#| d/f
#| d/g

#### touch -d 2001-02-03 f; du --time f | cut -f2-; du --time --time-style=+%Y f | cut -f2
touch -d 2001-02-03 f; du --time f | cut -f2-; du --time --time-style=+%Y f | cut -f2
#| 2001-02-03 00:00	f
#| 2001

#### du -s -a 2>&1; echo $?
du -s -a 2>&1; echo $?
#| du: cannot both summarize and show all entries
#| Try 'du --help' for more information.
#| 1

#### du -d x 2>&1; echo $?
du -d x 2>&1; echo $?
#| du: invalid maximum depth 'x'
#| Try 'du --help' for more information.
#| 1

#### du nothing 2>&1; echo $?
du nothing 2>&1; echo $?
#| du: cannot access 'nothing': No such file or directory
#| 1

#### du -t foo 2>&1; echo $?
du -t foo 2>&1; echo $?
#| du: invalid -t argument 'foo'
#| 1

#### df . | sed 1d | wc -l
df . | sed 1d | wc -l
#| 1

#### df -P . | head -1 | tr -s ' '
df -P . | head -1 | tr -s ' '
#| Filesystem 1024-blocks Used Available Capacity Mounted on

#### df -h . | head -1 | tr -s ' '
df -h . | head -1 | tr -s ' '
#| Filesystem Size Used Avail Use% Mounted on

#### df -i . | head -1 | tr -s ' '
df -i . | head -1 | tr -s ' '
#| Filesystem Inodes IUsed IFree IUse% Mounted on

#### df --output=target,pcent . | head -1 | tr -s ' '
df --output=target,pcent . | head -1 | tr -s ' '
#| Mounted on Use%

#### df --total . | tail -1 | cut -d' ' -f1
df --total . | tail -1 | cut -d' ' -f1
#| total

#### df nothing 2>&1; echo $?
df nothing 2>&1; echo $?
#| df: nothing: No such file or directory
#| 1

#### mkdir -p d/e; touch d/f d/e/g .h; tree
mkdir -p d/e; touch d/f d/e/g .h; tree
#| .
#| └── d
#|     ├── e
#|     │   └── g
#|     └── f
#|
#| 3 directories, 2 files

#### mkdir -p d/e; touch d/f d/e/g .h; tree -a d
mkdir -p d/e; touch d/f d/e/g .h; tree -a d
#| d
#| ├── e
#| │   └── g
#| └── f
#|
#| 2 directories, 2 files

#### mkdir -p d/e; touch d/f d/e/g .h; tree -d
mkdir -p d/e; touch d/f d/e/g .h; tree -d
#| .
#| └── d
#|     └── e
#|
#| 3 directories

#### mkdir -p d/e; touch d/f d/e/g .h; tree -L 1
mkdir -p d/e; touch d/f d/e/g .h; tree -L 1
#| .
#| └── d
#|
#| 2 directories, 0 files

#### mkdir -p d/e; touch d/f d/e/g .h; tree -f d
mkdir -p d/e; touch d/f d/e/g .h; tree -f d
#| d
#| ├── d/e
#| │   └── d/e/g
#| └── d/f
#|
#| 2 directories, 2 files

#### mkdir -p d/e; touch d/f d/e/g .h; tree -i d
mkdir -p d/e; touch d/f d/e/g .h; tree -i d
#| d
#| e
#| g
#| f
#|
#| 2 directories, 2 files

#### mkdir -p d/e; touch d/f d/e/g .h; tree -P 'f*' d
mkdir -p d/e; touch d/f d/e/g .h; tree -P 'f*' d
#| d
#| ├── e
#| └── f
#|
#| 2 directories, 1 file

#### mkdir -p d/e; touch d/f d/e/g .h; tree -I 'e' d
mkdir -p d/e; touch d/f d/e/g .h; tree -I 'e' d
#| d
#| └── f
#|
#| 1 directory, 1 file

#### mkdir -p d/e; touch d/f d/e/g .h; tree --noreport d
mkdir -p d/e; touch d/f d/e/g .h; tree --noreport d
#| d
#| ├── e
#| │   └── g
#| └── f

#### mkdir -p d/e; touch d/f d/e/g .h; tree --dirsfirst d
mkdir -p d/e; touch d/f d/e/g .h; tree --dirsfirst d
#| d
#| ├── e
#| │   └── g
#| └── f
#|
#| 2 directories, 2 files

#### mkdir -p d/e; touch d/f d/e/g .h; tree -F d
mkdir -p d/e; touch d/f d/e/g .h; tree -F d
#| d/
#| ├── e/
#| │   └── g
#| └── f
#|
#| 2 directories, 2 files

#### mkdir -p d/e; touch d/f d/e/g .h; tree -r d
mkdir -p d/e; touch d/f d/e/g .h; tree -r d
#| d
#| ├── f
#| └── e
#|     └── g
#|
#| 2 directories, 2 files

#### mkdir -p d/e; touch d/f d/e/g .h; tree -Q d
mkdir -p d/e; touch d/f d/e/g .h; tree -Q d
#| "d"
#| ├── "e"
#| │   └── "g"
#| └── "f"
#|
#| 2 directories, 2 files

#### mkdir -p d/e; touch d/f d/e/g .h; tree --prune d
mkdir -p d/e; touch d/f d/e/g .h; tree --prune d
#| d
#| ├── e
#| │   └── g
#| └── f
#|
#| 2 directories, 2 files

#### mkdir -p d/e; touch d/f d/e/g; tree -J d
mkdir -p d/e; touch d/f d/e/g; tree -J d
#| [
#|   {"type":"directory","name":"d","contents":[
#|     {"type":"directory","name":"e","contents":[
#|       {"type":"file","name":"g"}
#|     ]},
#|     {"type":"file","name":"f"}
#|   ]}
#| ,
#|   {"type":"report","directories":2,"files":2}
#| ]

#### mkdir -p d/e; touch d/f d/e/g; tree -X d
mkdir -p d/e; touch d/f d/e/g; tree -X d
#| <?xml version="1.0" encoding="UTF-8"?>
#| <tree>
#|   <directory name="d">
#|     <directory name="e">
#|       <file name="g"></file>
#|     </directory>
#|     <file name="f"></file>
#|   </directory>
#|   <report>
#|     <directories>2</directories>
#|     <files>2</files>
#|   </report>
#| </tree>

#### mkdir -p d/e; touch d/f d/e/g; tree --filelimit 1 d
mkdir -p d/e; touch d/f d/e/g; tree --filelimit 1 d
#| d  [2 entries exceeds filelimit, not opening dir]
#|
#| 1 directory, 0 files

#### mkdir -p d/e; touch d/f d/e/g; tree --matchdirs -P e d
mkdir -p d/e; touch d/f d/e/g; tree --matchdirs -P e d
#| d
#| └── e
#|     └── g
#|
#| 2 directories, 1 file

#### mkdir -p d/e; touch d/f d/e/g; tree -if --noreport d
mkdir -p d/e; touch d/f d/e/g; tree -if --noreport d
#| d
#| d/e
#| d/e/g
#| d/f

#### mkdir -p d/e; touch d/f d/e/g; tree -n d
mkdir -p d/e; touch d/f d/e/g; tree -n d
#| d
#| ├── e
#| │   └── g
#| └── f
#|
#| 2 directories, 2 files

#### mkdir -p d/e; touch d/f d/e/g; tree --charset=ascii d
mkdir -p d/e; touch d/f d/e/g; tree --charset=ascii d
#| d
#| |-- e
#| |   `-- g
#| `-- f
#|
#| 2 directories, 2 files

#### mkdir -p d/e; touch d/f d/e/g; tree -o out d; cat out
mkdir -p d/e; touch d/f d/e/g; tree -o out d; cat out
#| d
#| ├── e
#| │   └── g
#| └── f
#|
#| 2 directories, 2 files

#### tree --frob > /dev/null 2>&1; echo $?
tree --frob > /dev/null 2>&1; echo $?
#| 1
