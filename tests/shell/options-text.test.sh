#### seq 9 > f; grep -A1 --group-separator=XX -e 2 -e 6 f
seq 9 > f; grep -A1 --group-separator=XX -e 2 -e 6 f
#| 2
#| 3
#| XX
#| 6
#| 7

#### seq 9 > f; grep -A1 --no-group-separator -e 2 -e 6 f
seq 9 > f; grep -A1 --no-group-separator -e 2 -e 6 f
#| 2
#| 3
#| 6
#| 7

#### seq 9 > f; grep -C1 --group-separator= -e 2 -e 7 f
seq 9 > f; grep -C1 --group-separator= -e 2 -e 7 f
#| 1
#| 2
#| 3
#|
#| 6
#| 7
#| 8

#### seq 12 > f; grep -1 5 f
seq 12 > f; grep -1 5 f
#| 4
#| 5
#| 6

#### seq 12 > f; grep -C 1 -n 5 f
seq 12 > f; grep -C 1 -n 5 f
#| 4-4
#| 5:5
#| 6-6

#### seq 12 > f; grep -B2 -c 5 f
seq 12 > f; grep -B2 -c 5 f
#| 1

#### seq 12 > f; grep -A1 -m1 1 f
seq 12 > f; grep -A1 -m1 1 f
#| 1
#| 2

#### seq 12 > f; grep -b 5 f
seq 12 > f; grep -b 5 f
#| 8:5

#### seq 12 > f; grep -o 1 f
seq 12 > f; grep -o 1 f
#| 1
#| 1
#| 1
#| 1
#| 1

#### seq 12 > f; grep -ob 1 f
seq 12 > f; grep -ob 1 f
#| 0:1
#| 18:1
#| 21:1
#| 22:1
#| 24:1

#### seq 12 > f; grep -no 1 f
seq 12 > f; grep -no 1 f
#| 1:1
#| 10:1
#| 11:1
#| 11:1
#| 12:1

#### printf 'a\0b\n' > f; grep a f
printf 'a\0b\n' > f; grep a f

#### printf 'a\0b\n' > f; grep -a a f | od -c
printf 'a\0b\n' > f; grep -a a f | od -c
#| 0000000   a  \0   b  \n
#| 0000004

#### printf 'a\0b\n' > f; grep -I a f; echo $?
printf 'a\0b\n' > f; grep -I a f; echo $?
#| 1

#### printf 'a\0b\n' > f; grep --binary-files=text a f | od -c
printf 'a\0b\n' > f; grep --binary-files=text a f | od -c
#| 0000000   a  \0   b  \n
#| 0000004

#### printf 'a\0b\n' > f; grep --binary-files=without-match a f; echo $?
printf 'a\0b\n' > f; grep --binary-files=without-match a f; echo $?
#| 1

#### printf 'a\0b\n' > f; grep --binary-files=foo a f 2>&1; echo $?
printf 'a\0b\n' > f; grep --binary-files=foo a f 2>&1; echo $?
#| grep: unknown binary-files type
#| 2

#### printf 'a\0b\n' > f; grep -U a f
printf 'a\0b\n' > f; grep -U a f

#### echo abc > f; mkdir d; echo abc > d/g; grep abc d 2>&1; echo $?
echo abc > f; mkdir d; echo abc > d/g; grep abc d 2>&1; echo $?
#| grep: d: Is a directory
#| 2

#### echo abc > f; mkdir d; echo abc > d/g; grep -d skip abc d f
echo abc > f; mkdir d; echo abc > d/g; grep -d skip abc d f
#| f:abc

#### echo abc > f; mkdir d; echo abc > d/g; grep -d recurse abc d
echo abc > f; mkdir d; echo abc > d/g; grep -d recurse abc d
#| d/g:abc

#### echo abc > f; mkdir d; echo abc > d/g; grep -s abc nothing; echo $?
echo abc > f; mkdir d; echo abc > d/g; grep -s abc nothing; echo $?
#| 2

#### echo abc > f; mkdir d; echo abc > d/g; grep -d foo a f 2>&1; echo $?
echo abc > f; mkdir d; echo abc > d/g; grep -d foo a f 2>&1; echo $?
#| grep: invalid argument 'foo' for '--directories'
#| Valid arguments are:
#|   - 'read'
#|   - 'recurse'
#|   - 'skip'
#| Usage: grep [OPTION]... PATTERNS [FILE]...
#| Try 'grep --help' for more information.
#| 1

#### echo abc > f; mkdir d; echo abc > d/g; grep -D skip abc f
echo abc > f; mkdir d; echo abc > d/g; grep -D skip abc f
#| abc

#### echo abc > f; mkdir d; echo abc > d/g; grep -D foo abc f 2>&1; echo $?
echo abc > f; mkdir d; echo abc > d/g; grep -D foo abc f 2>&1; echo $?
#| grep: unknown devices method
#| 2

#### echo abc > f; grep --label=L -H abc < f
echo abc > f; grep --label=L -H abc < f
#| L:abc

#### echo abc > f; grep -H abc f
echo abc > f; grep -H abc f
#| f:abc

#### echo abc > f; grep -Z -l abc f | od -c
echo abc > f; grep -Z -l abc f | od -c
#| 0000000   f  \0
#| 0000002

#### echo abc > f; grep -L abc f; echo $?
echo abc > f; grep -L abc f; echo $?
#| 0

#### echo abc > f; grep -L xyz f; echo $?
echo abc > f; grep -L xyz f; echo $?
#| f
#| 1

#### echo abc > f; grep -l abc f
echo abc > f; grep -l abc f
#| f

#### echo abc > f; grep -c abc f f
echo abc > f; grep -c abc f f
#| f:1
#| f:1

#### echo abc > f; grep -hc abc f f
echo abc > f; grep -hc abc f f
#| 1
#| 1

#### echo abc > f; grep -q abc f; echo $?
echo abc > f; grep -q abc f; echo $?
#| 0

#### echo abc > f; grep --color=always b f | cat -v
echo abc > f; grep --color=always b f | cat -v
#| a^[[01;31m^[[Kb^[[m^[[Kc

#### echo abc > f; grep -T abc f
echo abc > f; grep -T abc f
#| abc

#### echo abc > f; grep -nT abc f
echo abc > f; grep -nT abc f
#| 1:	abc

#### echo abc > f; grep -HnT abc f
echo abc > f; grep -HnT abc f
#| f:1:	abc

#### echo 'foo bar' > f; grep -w fo f; echo $?
echo 'foo bar' > f; grep -w fo f; echo $?
#| 1

#### echo 'foo bar' > f; grep -x foo f; echo $?
echo 'foo bar' > f; grep -x foo f; echo $?
#| 1

#### echo 'foo bar' > f; grep -i FOO f
echo 'foo bar' > f; grep -i FOO f
#| foo bar

#### echo 'foo bar' > f; grep -i --no-ignore-case FOO f; echo $?
echo 'foo bar' > f; grep -i --no-ignore-case FOO f; echo $?
#| 1

#### echo 'foo bar' > f; grep -e foo -e bar -o f; printf 'foo\nbar\n' > p
echo 'foo bar' > f; grep -e foo -e bar -o f; printf 'foo\nbar\n' > p
#| foo
#| bar

#### echo 'foo bar' > f; grep -f p -o f
echo 'foo bar' > f; grep -f p -o f
#? 2

#### echo 'foo bar' > f; grep -v foo f; echo $?
echo 'foo bar' > f; grep -v foo f; echo $?
#| 1

#### echo 'foo bar' > f; grep -y FOO f
echo 'foo bar' > f; grep -y FOO f
#| foo bar

#### echo 'foo bar' > f; grep -F 'o b' f
echo 'foo bar' > f; grep -F 'o b' f
#| foo bar

#### echo 'foo bar' > f; grep -E 'o+' -o f
echo 'foo bar' > f; grep -E 'o+' -o f
#| oo

#### echo 'foo bar' > f; grep -G 'o\+' -o f
echo 'foo bar' > f; grep -G 'o\+' -o f
#| oo

#### echo 'foo bar' > f; grep -P 'o{2}' -o f
echo 'foo bar' > f; grep -P 'o{2}' -o f
#| oo

#### echo 'foo bar' > f; grep --line-buffered foo f
echo 'foo bar' > f; grep --line-buffered foo f
#| foo bar

#### printf 'a\nb\0c\n' | grep -z b | od -c
printf 'a\nb\0c\n' | grep -z b | od -c
#| 0000000   a  \n   b  \0
#| 0000004

#### mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -r x d | sort
mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -r x d | sort
#| d/a.c:x
#| d/b.h:x
#| d/e/c.c:x

#### mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -r --include='*.c' x d | sort
mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -r --include='*.c' x d | sort
#| d/a.c:x
#| d/e/c.c:x

#### mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -r --exclude='*.c' x d
mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -r --exclude='*.c' x d
#| d/b.h:x

#### mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -r --exclude-dir=e x d | sort; echo '*.h' > ex
mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -r --exclude-dir=e x d | sort; echo '*.h' > ex
#| d/a.c:x
#| d/b.h:x

#### mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -r --exclude-from=ex x d | sort; ln -s ../d/a.c d/l.c
mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -r --exclude-from=ex x d | sort; ln -s ../d/a.c d/l.c

#### mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -r x d | wc -l
mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -r x d | wc -l
#| 3

#### mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -R x d | wc -l; cd d
mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -R x d | wc -l; cd d
#| 3

#### mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -r x | sort
mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -r x | sort
#| d/a.c:x
#| d/b.h:x
#| d/e/c.c:x

#### mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -rh x
mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -rh x
#| x
#| x
#| x

#### mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -rl x . | sort
mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -rl x . | sort
#| ./d/a.c
#| ./d/b.h
#| ./d/e/c.c

#### mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -rc x | sort
mkdir -p d/e; echo x > d/a.c; echo x > d/b.h; echo x > d/e/c.c; grep -rc x | sort
#| d/a.c:1
#| d/b.h:1
#| d/e/c.c:1

#### grep 2>&1; echo $?
grep 2>&1; echo $?
#| Usage: grep [OPTION]... PATTERNS [FILE]...
#| Try 'grep --help' for more information.
#| 2

#### grep -A x a 2>&1; echo $?
grep -A x a 2>&1; echo $?
#| grep: x: invalid context length argument
#| 2

#### grep -m x a 2>&1; echo $?
grep -m x a 2>&1; echo $?
#| grep: invalid max count
#| 2

#### grep a nothing 2>&1; echo $?
grep a nothing 2>&1; echo $?
#| grep: nothing: No such file or directory
#| 2

#### grep --frob a 2>&1; echo $?
grep --frob a 2>&1; echo $?
#| grep: unrecognized option '--frob'
#| Usage: grep [OPTION]... PATTERNS [FILE]...
#| Try 'grep --help' for more information.
#| 2

#### grep -k a 2>&1; echo $?
grep -k a 2>&1; echo $?
#| grep: invalid option -- 'k'
#| Usage: grep [OPTION]... PATTERNS [FILE]...
#| Try 'grep --help' for more information.
#| 2

#### grep --co=always a </dev/null 2>&1 | head -1 | sed 's/;.*//'
grep --co=always a </dev/null 2>&1 | head -1 | sed 's/;.*//'
#| grep: option '--co=always' is ambiguous

#### grep --no a </dev/null 2>&1 | head -1 | sed 's/;.*//'
grep --no a </dev/null 2>&1 | head -1 | sed 's/;.*//'
#| grep: option '--no' is ambiguous

#### printf 'b\na\n' > x; printf 'd\nc\n' > y; sort -m x y
printf 'b\na\n' > x; printf 'd\nc\n' > y; sort -m x y
#| b
#| a
#| d
#| c

#### printf 'b\na\n' > x; printf 'd\nc\n' > y; sort -m -r x y
printf 'b\na\n' > x; printf 'd\nc\n' > y; sort -m -r x y
#| d
#| c
#| b
#| a

#### printf 'b\na\n' > x; printf 'd\nc\n' > y; sort -m -u x x; printf '1\n3\n' > a; printf '2\n4\n' > b
printf 'b\na\n' > x; printf 'd\nc\n' > y; sort -m -u x x; printf '1\n3\n' > a; printf '2\n4\n' > b
#| b
#| a
#| b
#| a

#### printf 'b\na\n' > x; printf 'd\nc\n' > y; sort -m a b
printf 'b\na\n' > x; printf 'd\nc\n' > y; sort -m a b
#? 2

#### printf 'b\na\n' > x; printf 'd\nc\n' > y; sort -mn a b -o o; cat o
printf 'b\na\n' > x; printf 'd\nc\n' > y; sort -mn a b -o o; cat o
#? 1

#### printf '1\n2\n' > f; sort -c f; echo $?
printf '1\n2\n' > f; sort -c f; echo $?
#| 0

#### printf '1\n2\n' > f; sort -cr f 2>&1; echo $?
printf '1\n2\n' > f; sort -cr f 2>&1; echo $?
#| sort: f:2: disorder: 2
#| 1

#### printf '1\n2\n' > f; sort -C -r f; echo $?
printf '1\n2\n' > f; sort -C -r f; echo $?
#| 1

#### printf '1\n2\n' > f; sort --check=quiet -r f; echo $?
printf '1\n2\n' > f; sort --check=quiet -r f; echo $?
#| 1

#### printf '1\n2\n' > f; sort --check=diagnose-first -r f 2>&1; echo $?
printf '1\n2\n' > f; sort --check=diagnose-first -r f 2>&1; echo $?
#| sort: f:2: disorder: 2
#| 1

#### printf '1\n2\n' > f; sort --check=foo f 2>&1; echo $?
printf '1\n2\n' > f; sort --check=foo f 2>&1; echo $?
#| sort: invalid argument 'foo' for '--check'
#| Valid arguments are:
#|   - 'quiet', 'silent'
#|   - 'diagnose-first'
#| Try 'sort --help' for more information.
#| 1

#### printf '1\n2\n' > f; sort -cu f
printf '1\n2\n' > f; sort -cu f

#### printf '1\n2\n' > f; printf '1\n1\n' | sort -cu 2>&1; echo $?
printf '1\n2\n' > f; printf '1\n1\n' | sort -cu 2>&1; echo $?
#| sort: -:2: disorder: 1
#| 1

#### printf '10K\n9M\n1G\n' > f; sort -h f
printf '10K\n9M\n1G\n' > f; sort -h f
#| 10K
#| 9M
#| 1G

#### printf '10K\n9M\n1G\n' > f; sort --sort=human-numeric f
printf '10K\n9M\n1G\n' > f; sort --sort=human-numeric f
#| 10K
#| 9M
#| 1G

#### printf '10K\n9M\n1G\n' > f; sort -rh f
printf '10K\n9M\n1G\n' > f; sort -rh f
#| 1G
#| 9M
#| 10K

#### printf '10K\n9M\n1G\n' > f; printf 'Feb\nJan\n' | sort -M
printf '10K\n9M\n1G\n' > f; printf 'Feb\nJan\n' | sort -M
#| Jan
#| Feb

#### printf '10K\n9M\n1G\n' > f; printf 'b\nA\n' | sort -f
printf '10K\n9M\n1G\n' > f; printf 'b\nA\n' | sort -f
#| A
#| b

#### printf '10K\n9M\n1G\n' > f; printf '1e2\n9\n' | sort -g
printf '10K\n9M\n1G\n' > f; printf '1e2\n9\n' | sort -g
#| 9
#| 1e2

#### printf '10K\n9M\n1G\n' > f; printf 'v1.10\nv1.9\n' | sort -V
printf '10K\n9M\n1G\n' > f; printf 'v1.10\nv1.9\n' | sort -V
#| v1.9
#| v1.10

#### printf '10K\n9M\n1G\n' > f; printf ' b\na\n' | sort -b
printf '10K\n9M\n1G\n' > f; printf ' b\na\n' | sort -b
#| a
#|  b

#### printf '10K\n9M\n1G\n' > f; printf 'a-b\naa\n' | sort -d
printf '10K\n9M\n1G\n' > f; printf 'a-b\naa\n' | sort -d
#| aa
#| a-b

#### printf '10K\n9M\n1G\n' > f; printf 'x 2\ny 1\n' | sort -k2
printf '10K\n9M\n1G\n' > f; printf 'x 2\ny 1\n' | sort -k2
#| y 1
#| x 2

#### printf '10K\n9M\n1G\n' > f; printf 'x 2\ny 10\n' | sort -k2n
printf '10K\n9M\n1G\n' > f; printf 'x 2\ny 10\n' | sort -k2n
#| x 2
#| y 10

#### printf '10K\n9M\n1G\n' > f; printf 'x:2\ny:1\n' | sort -t: -k2,2
printf '10K\n9M\n1G\n' > f; printf 'x:2\ny:1\n' | sort -t: -k2,2
#| y:1
#| x:2

#### printf '10K\n9M\n1G\n' > f; printf 'b\0a\0' | sort -z | od -c
printf '10K\n9M\n1G\n' > f; printf 'b\0a\0' | sort -z | od -c
#| 0000000   a  \0   b  \0
#| 0000004

#### printf '10K\n9M\n1G\n' > f; printf 'a 2\nb 1\na 1\n' | sort -s -k1,1
printf '10K\n9M\n1G\n' > f; printf 'a 2\nb 1\na 1\n' | sort -s -k1,1
#| a 2
#| a 1
#| b 1

#### printf '10K\n9M\n1G\n' > f; printf 'a\nb\na\n' | sort -u
printf '10K\n9M\n1G\n' > f; printf 'a\nb\na\n' | sort -u
#| a
#| b

#### sort -nM /dev/null 2>&1; echo $?
sort -nM /dev/null 2>&1; echo $?
#| sort: options '-Mn' are incompatible
#| 2

#### sort -k1nM /dev/null 2>&1; echo $?
sort -k1nM /dev/null 2>&1; echo $?
#| sort: options '-Mn' are incompatible
#| 2

#### sort --sort=foo /dev/null 2>&1; echo $?
sort --sort=foo /dev/null 2>&1; echo $?
#| sort: invalid argument 'foo' for '--sort'
#| Valid arguments are:
#|   - 'general-numeric'
#|   - 'human-numeric'
#|   - 'month'
#|   - 'numeric'
#|   - 'random'
#|   - 'version'
#| Try 'sort --help' for more information.
#| 1

#### sort -S foo /dev/null 2>&1; echo $?
sort -S foo /dev/null 2>&1; echo $?
#| sort: invalid -S argument 'foo'
#| 2

#### sort --parallel=0 /dev/null 2>&1; echo $?
sort --parallel=0 /dev/null 2>&1; echo $?
#| sort: number in parallel must be nonzero
#| 2

#### sort --batch-size=1 /dev/null 2>&1; echo $?
sort --batch-size=1 /dev/null 2>&1; echo $?
#| sort: invalid --batch-size argument '1'
#| sort: minimum --batch-size argument is '2'
#| 2

#### sort -k0 /dev/null 2>&1; echo $?
sort -k0 /dev/null 2>&1; echo $?
#| sort: field number is zero: invalid field specification '0'
#| 2

#### sort -t ab /dev/null 2>&1; echo $?
sort -t ab /dev/null 2>&1; echo $?
#| sort: multi-character tab 'ab'
#| 2

#### sort -t '' /dev/null 2>&1; echo $?
sort -t '' /dev/null 2>&1; echo $?
#| sort: empty tab
#| 2

#### sort nothing 2>&1; echo $?
sort nothing 2>&1; echo $?
#| sort: cannot read: nothing: No such file or directory
#| 2

#### sort -c a b 2>&1; echo $?
sort -c a b 2>&1; echo $?
#| sort: extra operand 'b' not allowed with -c
#| 2

#### sort -o a -o b /dev/null 2>&1; echo $?
sort -o a -o b /dev/null 2>&1; echo $?
#| sort: multiple output files specified
#| 2

#### printf 'b\na\n' > f; sort -S 1M f
printf 'b\na\n' > f; sort -S 1M f
#| a
#| b

#### printf 'b\na\n' > f; sort --parallel=2 f
printf 'b\na\n' > f; sort --parallel=2 f
#| a
#| b

#### printf 'b\na\n' > f; sort -T /tmp f
printf 'b\na\n' > f; sort -T /tmp f
#| a
#| b

#### printf 'b\na\n' > f; sort --compress-program=gzip f
printf 'b\na\n' > f; sort --compress-program=gzip f
#| a
#| b

#### printf 'b\na\n' > f; sort --batch-size=5 f
printf 'b\na\n' > f; sort --batch-size=5 f
#| a
#| b

#### printf 'b\na\n' > f; printf 'f\0' | sort --files0-from=-
printf 'b\na\n' > f; printf 'f\0' | sort --files0-from=-
#| a
#| b

#### printf 'b\na\n' > f; sort f -o f; cat f
printf 'b\na\n' > f; sort f -o f; cat f
#| a
#| b

#### printf 'a\na\nb\nc\nc\n' > f; uniq -c f
printf 'a\na\nb\nc\nc\n' > f; uniq -c f
#|       2 a
#|       1 b
#|       2 c

#### printf 'a\na\nb\nc\nc\n' > f; uniq -d f
printf 'a\na\nb\nc\nc\n' > f; uniq -d f
#| a
#| c

#### printf 'a\na\nb\nc\nc\n' > f; uniq -u f
printf 'a\na\nb\nc\nc\n' > f; uniq -u f
#| b

#### printf 'a\na\nb\nc\nc\n' > f; uniq -D f
printf 'a\na\nb\nc\nc\n' > f; uniq -D f
#| a
#| a
#| c
#| c

#### printf 'a\na\nb\nc\nc\n' > f; uniq --all-repeated=separate f
printf 'a\na\nb\nc\nc\n' > f; uniq --all-repeated=separate f
#| a
#| a
#|
#| c
#| c

#### printf 'a\na\nb\nc\nc\n' > f; uniq --all-repeated=prepend f
printf 'a\na\nb\nc\nc\n' > f; uniq --all-repeated=prepend f
#|
#| a
#| a
#|
#| c
#| c

#### printf 'a\na\nb\nc\nc\n' > f; uniq --group f
printf 'a\na\nb\nc\nc\n' > f; uniq --group f
#| a
#| a
#|
#| b
#|
#| c
#| c

#### printf 'a\na\nb\nc\nc\n' > f; uniq --group=both f
printf 'a\na\nb\nc\nc\n' > f; uniq --group=both f
#|
#| a
#| a
#|
#| b
#|
#| c
#| c
#|

#### printf 'a\na\nb\nc\nc\n' > f; uniq --group=append f
printf 'a\na\nb\nc\nc\n' > f; uniq --group=append f
#| a
#| a
#|
#| b
#|
#| c
#| c
#|

#### printf 'a\na\nb\nc\nc\n' > f; uniq --group=prepend f
printf 'a\na\nb\nc\nc\n' > f; uniq --group=prepend f
#|
#| a
#| a
#|
#| b
#|
#| c
#| c

#### printf 'a\na\nb\nc\nc\n' > f; printf 'A\na\n' | uniq -i
printf 'a\na\nb\nc\nc\n' > f; printf 'A\na\n' | uniq -i
#| A

#### printf 'a\na\nb\nc\nc\n' > f; printf 'x a\ny a\n' | uniq -f1
printf 'a\na\nb\nc\nc\n' > f; printf 'x a\ny a\n' | uniq -f1
#| x a

#### printf 'a\na\nb\nc\nc\n' > f; printf 'xa\nya\n' | uniq -s1
printf 'a\na\nb\nc\nc\n' > f; printf 'xa\nya\n' | uniq -s1
#| xa

#### printf 'a\na\nb\nc\nc\n' > f; printf 'ab\nac\n' | uniq -w1
printf 'a\na\nb\nc\nc\n' > f; printf 'ab\nac\n' | uniq -w1
#| ab

#### printf 'a\na\nb\nc\nc\n' > f; uniq f o; cat o
printf 'a\na\nb\nc\nc\n' > f; uniq f o; cat o
#| a
#| b
#| c

#### printf 'a\na\nb\nc\nc\n' > f; printf 'a\0a\0' | uniq -z | od -c
printf 'a\na\nb\nc\nc\n' > f; printf 'a\0a\0' | uniq -z | od -c
#| 0000000   a  \0
#| 0000002

#### uniq --group=foo /dev/null 2>&1; echo $?
uniq --group=foo /dev/null 2>&1; echo $?
#| uniq: invalid argument 'foo' for '--group'
#| Valid arguments are:
#|   - 'prepend'
#|   - 'append'
#|   - 'separate'
#|   - 'both'
#| Try 'uniq --help' for more information.
#| 1

#### uniq --group -c /dev/null 2>&1; echo $?
uniq --group -c /dev/null 2>&1; echo $?
#| uniq: --group is mutually exclusive with -c/-d/-D/-u
#| Try 'uniq --help' for more information.
#| 1

#### uniq -D -c /dev/null 2>&1; echo $?
uniq -D -c /dev/null 2>&1; echo $?
#| uniq: printing all duplicated lines and repeat counts is meaningless
#| Try 'uniq --help' for more information.
#| 1

#### uniq --all-repeated=foo /dev/null 2>&1; echo $?
uniq --all-repeated=foo /dev/null 2>&1; echo $?
#| uniq: invalid argument 'foo' for '--all-repeated'
#| Valid arguments are:
#|   - 'none'
#|   - 'prepend'
#|   - 'separate'
#| Try 'uniq --help' for more information.
#| 1

#### uniq -f x /dev/null 2>&1; echo $?
uniq -f x /dev/null 2>&1; echo $?
#| uniq: x: invalid number of fields to skip
#| 1

#### uniq nothing 2>&1; echo $?
uniq nothing 2>&1; echo $?
#| uniq: nothing: No such file or directory
#| 1

#### uniq a b c 2>&1; echo $?
uniq a b c 2>&1; echo $?
#| uniq: extra operand 'c'
#| Try 'uniq --help' for more information.
#| 1

#### printf 'b 1\na 2\n' > x; printf 'a 3\nb 4\n' > y; join x y 2>&1; echo $?
printf 'b 1\na 2\n' > x; printf 'a 3\nb 4\n' > y; join x y 2>&1; echo $?
#| join: x:2: is not sorted: a 2
#| b 1 4
#| join: input is not in sorted order
#| 1

#### printf 'b 1\na 2\n' > x; printf 'a 3\nb 4\n' > y; join --check-order x y 2>&1; echo $?
printf 'b 1\na 2\n' > x; printf 'a 3\nb 4\n' > y; join --check-order x y 2>&1; echo $?
#| join: x:2: is not sorted: a 2
#| 1

#### printf 'b 1\na 2\n' > x; printf 'a 3\nb 4\n' > y; join --nocheck-order x y 2>&1; echo $?
printf 'b 1\na 2\n' > x; printf 'a 3\nb 4\n' > y; join --nocheck-order x y 2>&1; echo $?
#| b 1 4
#| 0

#### printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join x y
printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join x y
#| a 1 3

#### printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -a1 x y
printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -a1 x y
#| a 1 3
#| b 2
#| d 5

#### printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -a2 x y
printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -a2 x y
#| a 1 3
#| c 4

#### printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -v1 x y
printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -v1 x y
#| b 2
#| d 5

#### printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -v2 x y
printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -v2 x y
#| c 4

#### printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -a1 -a2 -e NA -o 0,1.2,2.2 x y
printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -a1 -a2 -e NA -o 0,1.2,2.2 x y
#| a 1 3
#| b 2 NA
#| c NA 4
#| d 5 NA

#### printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -o auto -a1 -e - x y
printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -o auto -a1 -e - x y
#| a 1 3
#| b 2 -
#| d 5 -

#### printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -1 1 -2 1 x y
printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -1 1 -2 1 x y
#| a 1 3

#### printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -j1 x y
printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -j1 x y
#| a 1 3

#### printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join --header x y
printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join --header x y
#| a 1 3

#### printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -t' ' x y; printf 'a,1\n' > p; printf 'a,2\n' > q
printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -t' ' x y; printf 'a,1\n' > p; printf 'a,2\n' > q
#| a 1 3

#### printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -t, p q; printf 'A 1\n' > c
printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -t, p q; printf 'A 1\n' > c

#### printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -i c y; printf 'a 1\0' > z1; printf 'a 2\0' > z2
printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -i c y; printf 'a 1\0' > z1; printf 'a 2\0' > z2

#### printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -z z1 z2 | od -c
printf 'a 1\nb 2\nd 5\n' > x; printf 'a 3\nc 4\n' > y; join -z z1 z2 | od -c
#| 0000000

#### join 2>&1; echo $?
join 2>&1; echo $?
#| join: missing operand
#| Try 'join --help' for more information.
#| 1

#### join a 2>&1; echo $?
join a 2>&1; echo $?
#| join: missing operand after 'a'
#| Try 'join --help' for more information.
#| 1

#### join a b c 2>&1; echo $?
join a b c 2>&1; echo $?
#| join: extra operand 'c'
#| Try 'join --help' for more information.
#| 1

#### join -a3 a b 2>&1; echo $?
join -a3 a b 2>&1; echo $?
#| join: invalid field number: '3'
#| 1

#### join -t ab a b 2>&1; echo $?
join -t ab a b 2>&1; echo $?
#| join: multi-character tab 'ab'
#| 1

#### join -o 3.1 a b 2>&1; echo $?
join -o 3.1 a b 2>&1; echo $?
#| join: invalid file number in field spec: '3.1'
#| 1

#### join -1 0 a b 2>&1; echo $?
join -1 0 a b 2>&1; echo $?
#| join: invalid field number: '0'
#| 1

#### join no1 no2 2>&1; echo $?
join no1 no2 2>&1; echo $?
#| join: no1: No such file or directory
#| 1

#### printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm x y
printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm x y
#| a
#| 		b
#| 	c

#### printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm -12 x y
printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm -12 x y
#| b

#### printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm -3 x y
printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm -3 x y
#| a
#| 	c

#### printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm --total x y
printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm --total x y
#| a
#| 		b
#| 	c
#| 1	1	1	total

#### printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm --output-delimiter=, x y
printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm --output-delimiter=, x y
#| a
#| ,,b
#| ,c

#### printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm -z x y | od -c | head -2; printf 'b\na\n' > u
printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm -z x y | od -c | head -2; printf 'b\na\n' > u
#| 0000000   a  \n   b  \n  \0  \t   b  \n   c  \n  \0
#| 0000013

#### printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm u y 2>&1; echo $?
printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm u y 2>&1; echo $?
#| comm: u: No such file or directory
#| 1

#### printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm --check-order u y 2>&1; echo $?
printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm --check-order u y 2>&1; echo $?
#| comm: u: No such file or directory
#| 1

#### printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm --nocheck-order u y; echo $?
printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm --nocheck-order u y; echo $?
#| 1

#### printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm 2>&1; echo $?
printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm 2>&1; echo $?
#| comm: missing operand
#| Try 'comm --help' for more information.
#| 1

#### printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm x 2>&1; echo $?
printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm x 2>&1; echo $?
#| comm: missing operand after 'x'
#| Try 'comm --help' for more information.
#| 1

#### printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm x y z 2>&1; echo $?
printf 'a\nb\n' > x; printf 'b\nc\n' > y; comm x y z 2>&1; echo $?
#| comm: extra operand 'z'
#| Try 'comm --help' for more information.
#| 1

#### echo 'a:b:c' > f; cut -d: -f2 f
echo 'a:b:c' > f; cut -d: -f2 f
#| b

#### echo 'a:b:c' > f; cut -d: -f1,3 f
echo 'a:b:c' > f; cut -d: -f1,3 f
#| a:c

#### echo 'a:b:c' > f; cut -d: -f2- f
echo 'a:b:c' > f; cut -d: -f2- f
#| b:c

#### echo 'a:b:c' > f; cut -d: --complement -f2 f
echo 'a:b:c' > f; cut -d: --complement -f2 f
#| a:c

#### echo 'a:b:c' > f; cut -d: -f1,3 --output-delimiter=, f
echo 'a:b:c' > f; cut -d: -f1,3 --output-delimiter=, f
#| a,c

#### echo 'a:b:c' > f; cut -c2-3 f
echo 'a:b:c' > f; cut -c2-3 f
#| :b

#### echo 'a:b:c' > f; cut -b1 f
echo 'a:b:c' > f; cut -b1 f
#| a

#### echo 'a:b:c' > f; echo nodelim | cut -d: -f1
echo 'a:b:c' > f; echo nodelim | cut -d: -f1
#| nodelim

#### echo 'a:b:c' > f; echo nodelim | cut -s -d: -f1
echo 'a:b:c' > f; echo nodelim | cut -s -d: -f1

#### echo 'a:b:c' > f; cut -c1,3 --output-delimiter=- f
echo 'a:b:c' > f; cut -c1,3 --output-delimiter=- f
#| a-b

#### echo 'a:b:c' > f; printf 'a:b\0' | cut -z -d: -f2 | od -c
echo 'a:b:c' > f; printf 'a:b\0' | cut -z -d: -f2 | od -c
#| 0000000   b  \0
#| 0000002

#### echo 'a:b:c' > f; cut -n -b1 f
echo 'a:b:c' > f; cut -n -b1 f
#| a

#### cut 2>&1; echo $?
cut 2>&1; echo $?
#| cut: you must specify a list of bytes, characters, or fields
#| Try 'cut --help' for more information.
#| 1

#### cut -f1 -c1 2>&1; echo $?
cut -f1 -c1 2>&1; echo $?
#| cut: only one list may be specified
#| Try 'cut --help' for more information.
#| 1

#### cut -d ab -f1 2>&1; echo $?
cut -d ab -f1 2>&1; echo $?
#| cut: the delimiter must be a single character
#| Try 'cut --help' for more information.
#| 1

#### cut -f0 2>&1; echo $?
cut -f0 2>&1; echo $?
#| cut: fields are numbered from 1
#| Try 'cut --help' for more information.
#| 1

#### cut -f 3-1 2>&1; echo $?
cut -f 3-1 2>&1; echo $?
#| cut: invalid decreasing range
#| Try 'cut --help' for more information.
#| 1

#### cut -f a 2>&1; echo $?
cut -f a 2>&1; echo $?
#| cut: invalid field value 'a'
#| Try 'cut --help' for more information.
#| 1

#### cut -c1 -d: 2>&1; echo $?
cut -c1 -d: 2>&1; echo $?
#| cut: an input delimiter may be specified only when operating on fields
#| Try 'cut --help' for more information.
#| 1

#### cut -c1 -s 2>&1; echo $?
cut -c1 -s 2>&1; echo $?
#| cut: suppressing non-delimited lines makes sense
#| 	only when operating on fields
#| Try 'cut --help' for more information.
#| 1

#### cut -f1 nothing 2>&1; echo $?
cut -f1 nothing 2>&1; echo $?
#| cut: nothing: No such file or directory
#| 1

#### cut -f - 2>&1; echo $?
cut -f - 2>&1; echo $?
#| cut: invalid range with no endpoint: -
#| Try 'cut --help' for more information.
#| 1

#### seq 3 > a; seq 4 6 > b; paste a b
seq 3 > a; seq 4 6 > b; paste a b
#| 1	4
#| 2	5
#| 3	6

#### seq 3 > a; seq 4 6 > b; paste -d, a b
seq 3 > a; seq 4 6 > b; paste -d, a b
#| 1,4
#| 2,5
#| 3,6

#### seq 3 > a; seq 4 6 > b; paste -s a b
seq 3 > a; seq 4 6 > b; paste -s a b
#| 1	2	3
#| 4	5	6

#### seq 3 > a; seq 4 6 > b; paste -sd+ a
seq 3 > a; seq 4 6 > b; paste -sd+ a
#| 1+2+3

#### seq 3 > a; seq 4 6 > b; paste -d '\n' a b
seq 3 > a; seq 4 6 > b; paste -d '\n' a b
#| 1
#| 4
#| 2
#| 5
#| 3
#| 6

#### seq 3 > a; seq 4 6 > b; paste - - < b
seq 3 > a; seq 4 6 > b; paste - - < b
#| 4	5
#| 6	

#### seq 3 > a; seq 4 6 > b; paste -z a | od -c | head -1
seq 3 > a; seq 4 6 > b; paste -z a | od -c | head -1
#| 0000000   1  \n   2  \n   3  \n  \0

#### seq 3 > a; seq 4 6 > b; paste -d '\' a 2>&1; echo $?
seq 3 > a; seq 4 6 > b; paste -d '\' a 2>&1; echo $?
#| paste: delimiter list ends with an unescaped backslash: \
#| 1

#### seq 3 > a; seq 4 6 > b; paste nothing 2>&1; echo $?
seq 3 > a; seq 4 6 > b; paste nothing 2>&1; echo $?
#| paste: nothing: No such file or directory
#| 1

#### echo hello | tr a-y b-z
echo hello | tr a-y b-z
#| ifmmp

#### echo hello | tr -d l
echo hello | tr -d l
#| heo

#### echo hello | tr -s l
echo hello | tr -s l
#| helo

#### echo hello | tr -c 'el\n' x
echo hello | tr -c 'el\n' x
#| xellx

#### echo hello | tr -ds e l
echo hello | tr -ds e l
#| hlo

#### echo hello | tr -t helo ab
echo hello | tr -t helo ab
#| abllo

#### echo 'a b' | tr '[:space:]' '\n'
echo 'a b' | tr '[:space:]' '\n'
#| a
#| b

#### echo abc | tr '[:lower:]' '[:upper:]'
echo abc | tr '[:lower:]' '[:upper:]'
#| ABC

#### echo aXb | tr -C 'ab\n' -
echo aXb | tr -C 'ab\n' -
#| a-b

#### echo hello | tr --delete l
echo hello | tr --delete l
#| heo

#### echo abc | tr a-c '[x*]'
echo abc | tr a-c '[x*]'
#| xxx

#### tr 2>&1; echo $?
tr 2>&1; echo $?
#| tr: missing operand
#| Try 'tr --help' for more information.
#| 1

#### tr a 2>&1; echo $?
tr a 2>&1; echo $?
#| tr: missing operand after 'a'
#| Two strings must be given when translating.
#| Try 'tr --help' for more information.
#| 1

#### tr a b c 2>&1; echo $?
tr a b c 2>&1; echo $?
#| tr: extra operand 'c'
#| Try 'tr --help' for more information.
#| 1

#### tr -d a b 2>&1; echo $?
tr -d a b 2>&1; echo $?
#| tr: extra operand 'b'
#| Only one string may be given when deleting without squeezing repeats.
#| Try 'tr --help' for more information.
#| 1

#### tr z-a x 2>&1; echo $?
tr z-a x 2>&1; echo $?
#| tr: range-endpoints of 'z-a' are in reverse collating sequence order
#| 1

#### tr '[:foo:]' x 2>&1; echo $?
tr '[:foo:]' x 2>&1; echo $?
#| tr: invalid character class 'foo'
#| 1

#### tr a '' 2>&1; echo $?
tr a '' 2>&1; echo $?
#| tr: when not truncating set1, string2 must be non-empty
#| 1

#### tr -z a b 2>&1; echo $?
tr -z a b 2>&1; echo $?
#| tr: invalid option -- 'z'
#| Try 'tr --help' for more information.
#| 1

#### printf 'a\n\nb\n' > f; nl f
printf 'a\n\nb\n' > f; nl f
#|      1	a
#|        
#|      2	b

#### printf 'a\n\nb\n' > f; nl -ba f
printf 'a\n\nb\n' > f; nl -ba f
#|      1	a
#|      2	
#|      3	b

#### printf 'a\n\nb\n' > f; nl -bn f
printf 'a\n\nb\n' > f; nl -bn f
#|        a
#|        
#|        b

#### printf 'a\n\nb\n' > f; nl -bpb f
printf 'a\n\nb\n' > f; nl -bpb f
#|        a
#|        
#|      1	b

#### printf 'a\n\nb\n' > f; nl -nln f
printf 'a\n\nb\n' > f; nl -nln f
#| 1     	a
#|        
#| 2     	b

#### printf 'a\n\nb\n' > f; nl -nrz f
printf 'a\n\nb\n' > f; nl -nrz f
#| 000001	a
#|        
#| 000002	b

#### printf 'a\n\nb\n' > f; nl -w3 -s: f
printf 'a\n\nb\n' > f; nl -w3 -s: f
#|   1:a
#|     
#|   2:b

#### printf 'a\n\nb\n' > f; nl -v10 -i5 f
printf 'a\n\nb\n' > f; nl -v10 -i5 f
#|     10	a
#|        
#|     15	b

#### printf 'a\n\nb\n' > f; nl -ba -l2 f
printf 'a\n\nb\n' > f; nl -ba -l2 f
#|      1	a
#|        
#|      2	b

#### printf 'a\n\nb\n' > f; printf '\\:\\:\\:\nh\n\\:\\:\nb\n\\:\nf\n' | nl -ha -fa
printf 'a\n\nb\n' > f; printf '\\:\\:\\:\nh\n\\:\\:\nb\n\\:\nf\n' | nl -ha -fa
#|
#|      1	h
#|
#|      1	b
#|
#|      1	f

#### printf 'a\n\nb\n' > f; nl -p f
printf 'a\n\nb\n' > f; nl -p f
#|      1	a
#|        
#|      2	b

#### printf 'a\n\nb\n' > f; nl -d xy f
printf 'a\n\nb\n' > f; nl -d xy f
#|      1	a
#|        
#|      2	b

#### nl -n foo f 2>&1; echo $?
nl -n foo f 2>&1; echo $?
#| nl: invalid line numbering format: 'foo'
#| Try 'nl --help' for more information.
#| 1

#### nl -b z f 2>&1; echo $?
nl -b z f 2>&1; echo $?
#| nl: invalid body numbering style: 'z'
#| Try 'nl --help' for more information.
#| 1

#### nl -w 0 f 2>&1; echo $?
nl -w 0 f 2>&1; echo $?
#| nl: invalid line number field width: '0': Numerical result out of range
#| 1

#### nl -v x f 2>&1; echo $?
nl -v x f 2>&1; echo $?
#| nl: invalid starting line number: 'x'
#| 1

#### nl nothing 2>&1; echo $?
nl nothing 2>&1; echo $?
#| nl: nothing: No such file or directory
#| 1

#### seq 10 > f; head -3 f
seq 10 > f; head -3 f
#| 1
#| 2
#| 3

#### seq 10 > f; head -n 2 f
seq 10 > f; head -n 2 f
#| 1
#| 2

#### seq 10 > f; head -n -8 f
seq 10 > f; head -n -8 f
#| 1
#| 2

#### seq 10 > f; head -c 4 f
seq 10 > f; head -c 4 f
#| 1
#| 2

#### seq 10 > f; head -c -17 f
seq 10 > f; head -c -17 f
#| 1
#| 2

#### seq 10 > f; head -q -n1 f f
seq 10 > f; head -q -n1 f f
#| 1
#| 1

#### seq 10 > f; head -v -n1 f
seq 10 > f; head -v -n1 f
#| ==> f <==
#| 1

#### seq 10 > f; head --lines=1 f
seq 10 > f; head --lines=1 f
#| 1

#### seq 10 > f; head --bytes=2 f
seq 10 > f; head --bytes=2 f
#| 1

#### seq 10 > f; printf 'a\0b\0' | head -z -n1 | od -c
seq 10 > f; printf 'a\0b\0' | head -z -n1 | od -c
#| 0000000   a  \0
#| 0000002

#### seq 10 > f; head -n 1K f | wc -l
seq 10 > f; head -n 1K f | wc -l
#| 10

#### seq 10 > f; head -n1 f f
seq 10 > f; head -n1 f f
#| ==> f <==
#| 1
#|
#| ==> f <==
#| 1

#### head -n x f 2>&1; echo $?
head -n x f 2>&1; echo $?
#| head: invalid number of lines: 'x'
#| 1

#### head -c x f 2>&1; echo $?
head -c x f 2>&1; echo $?
#| head: invalid number of bytes: 'x'
#| 1

#### head nothing 2>&1; echo $?; mkdir d
head nothing 2>&1; echo $?; mkdir d
#| head: cannot open 'nothing' for reading: No such file or directory
#| 1

#### head d 2>&1; echo $?
head d 2>&1; echo $?
#| head: cannot open 'd' for reading: No such file or directory
#| 1

#### head -n 2>&1; echo $?
head -n 2>&1; echo $?
#| head: option requires an argument -- 'n'
#| Try 'head --help' for more information.
#| 1

#### head --frob 2>&1; echo $?
head --frob 2>&1; echo $?
#| head: unrecognized option '--frob'
#| Try 'head --help' for more information.
#| 1

#### seq 10 > f; tail -3 f
seq 10 > f; tail -3 f
#| 8
#| 9
#| 10

#### seq 10 > f; tail -n +9 f
seq 10 > f; tail -n +9 f
#| 9
#| 10

#### seq 10 > f; tail -c 3 f
seq 10 > f; tail -c 3 f
#| 10

#### seq 10 > f; tail -c +19 f
seq 10 > f; tail -c +19 f
#| 10

#### seq 10 > f; tail -q -n1 f f
seq 10 > f; tail -q -n1 f f
#| 10
#| 10

#### seq 10 > f; tail -v -n1 f
seq 10 > f; tail -v -n1 f
#| ==> f <==
#| 10

#### seq 10 > f; tail +9 f
seq 10 > f; tail +9 f
#| 9
#| 10

#### seq 10 > f; tail -n1 f f
seq 10 > f; tail -n1 f f
#| ==> f <==
#| 10
#|
#| ==> f <==
#| 10

#### seq 10 > f; printf 'a\0b\0' | tail -z -n1 | od -c
seq 10 > f; printf 'a\0b\0' | tail -z -n1 | od -c
#| 0000000   b  \0
#| 0000002

#### seq 10 > f; tail --retry -n1 f 2>&1
seq 10 > f; tail --retry -n1 f 2>&1
#| tail: warning: --retry ignored; --retry is useful only when following
#| 10

#### seq 10 > f; tail --pid=1 -n1 f 2>&1
seq 10 > f; tail --pid=1 -n1 f 2>&1
#| tail: warning: PID ignored; --pid=PID is useful only when following
#| 10

#### tail -n x f 2>&1; echo $?
tail -n x f 2>&1; echo $?
#| tail: invalid number of lines: 'x'
#| 1

#### tail nothing 2>&1; echo $?
tail nothing 2>&1; echo $?
#| tail: cannot open 'nothing' for reading: No such file or directory
#| 1

#### tail --follow=foo f 2>&1; echo $?
tail --follow=foo f 2>&1; echo $?
#| tail: invalid argument 'foo' for '--follow'
#| Valid arguments are:
#|   - 'descriptor'
#|   - 'name'
#| Try 'tail --help' for more information.
#| 1

#### tail -s x f 2>&1; echo $?
tail -s x f 2>&1; echo $?
#| tail: invalid number of seconds: 'x'
#| 1

#### tail --pid=x f 2>&1; echo $?
tail --pid=x f 2>&1; echo $?
#| tail: invalid PID: 'x'
#| 1

#### tail --max-unchanged-stats=x f 2>&1; echo $?
tail --max-unchanged-stats=x f 2>&1; echo $?
#| tail: invalid maximum number of unchanged stats between opens: 'x'
#| 1

#### echo x > f; (sleep 0.3; echo y >> f) & tail -f -s 0.1 --pid=$! f
echo x > f; (sleep 0.3; echo y >> f) & tail -f -s 0.1 --pid=$! f
#| x
#| y

#### printf 'a b\ncc\n' > f; wc f
printf 'a b\ncc\n' > f; wc f
#| 2 3 7 f

#### printf 'a b\ncc\n' > f; wc -l f
printf 'a b\ncc\n' > f; wc -l f
#| 2 f

#### printf 'a b\ncc\n' > f; wc -w f
printf 'a b\ncc\n' > f; wc -w f
#| 3 f

#### printf 'a b\ncc\n' > f; wc -c f
printf 'a b\ncc\n' > f; wc -c f
#| 7 f

#### printf 'a b\ncc\n' > f; wc -m f
printf 'a b\ncc\n' > f; wc -m f
#| 7 f

#### printf 'a b\ncc\n' > f; wc -L f
printf 'a b\ncc\n' > f; wc -L f
#| 3 f

#### printf 'a b\ncc\n' > f; wc f f
printf 'a b\ncc\n' > f; wc f f
#|  2  3  7 f
#|  2  3  7 f
#|  4  6 14 total

#### printf 'a b\ncc\n' > f; wc < f
printf 'a b\ncc\n' > f; wc < f
#| 2 3 7

#### printf 'a b\ncc\n' > f; printf 'f\0' | wc --files0-from=-
printf 'a b\ncc\n' > f; printf 'f\0' | wc --files0-from=-
#| 2 3 7 f

#### printf 'a b\ncc\n' > f; wc nothing 2>&1; echo $?; mkdir d
printf 'a b\ncc\n' > f; wc nothing 2>&1; echo $?; mkdir d
#| wc: nothing: No such file or directory
#| 1

#### printf 'a b\ncc\n' > f; wc -l d 2>&1; echo $?
printf 'a b\ncc\n' > f; wc -l d 2>&1; echo $?
#| wc: d: No such file or directory
#| 1

#### printf 'a\tb\n' > f; cat -T f
printf 'a\tb\n' > f; cat -T f
#| a^Ib

#### printf 'a\tb\n' > f; cat -E f
printf 'a\tb\n' > f; cat -E f
#| a	b$

#### printf 'a\tb\n' > f; cat -A f
printf 'a\tb\n' > f; cat -A f
#| a^Ib$

#### printf 'a\tb\n' > f; cat -n f
printf 'a\tb\n' > f; cat -n f
#|      1	a	b

#### printf 'a\tb\n' > f; cat -b f
printf 'a\tb\n' > f; cat -b f
#|      1	a	b

#### printf 'a\tb\n' > f; cat -s f
printf 'a\tb\n' > f; cat -s f
#| a	b

#### printf 'a\tb\n' > f; cat -v f
printf 'a\tb\n' > f; cat -v f
#| a	b

#### printf 'a\tb\n' > f; cat -e f
printf 'a\tb\n' > f; cat -e f
#| a	b$

#### printf 'a\tb\n' > f; cat -t f
printf 'a\tb\n' > f; cat -t f
#| a^Ib

#### printf 'a\tb\n' > f; cat -u f
printf 'a\tb\n' > f; cat -u f
#| a	b

#### printf 'a\tb\n' > f; printf '\n\n\na\n' | cat -sn
printf 'a\tb\n' > f; printf '\n\n\na\n' | cat -sn
#|      1	
#|      2	a

#### printf 'a\tb\n' > f; cat nothing 2>&1; echo $?; mkdir d
printf 'a\tb\n' > f; cat nothing 2>&1; echo $?; mkdir d
#| cat: nothing: No such file or directory
#| 1

#### printf 'a\tb\n' > f; cat d 2>&1; echo $?
printf 'a\tb\n' > f; cat d 2>&1; echo $?
#| cat: d: No such file or directory
#| 1

#### printf 'a\tb\n' > f; cat --frob 2>&1; echo $?
printf 'a\tb\n' > f; cat --frob 2>&1; echo $?
#| cat: unrecognized option '--frob'
#| Try 'cat --help' for more information.
#| 1

#### printf 'a\tb\n' > f; cat --show; echo $?
printf 'a\tb\n' > f; cat --show; echo $?
#| 1

#### seq 3 | tac
seq 3 | tac
#| 3
#| 2
#| 1

#### printf 'a,b,c' | tac -s,
printf 'a,b,c' | tac -s,
#|- cb,a,

#### printf 'a,b,c' | tac -b -s,
printf 'a,b,c' | tac -b -s,
#|- ,c,ba

#### printf 'a1b2c' | tac -r -s '[0-9]'
printf 'a1b2c' | tac -r -s '[0-9]'
#|- cb2a1

#### tac nothing 2>&1; echo $?
tac nothing 2>&1; echo $?
#| tac: failed to open 'nothing' for reading: No such file or directory
#| 1

#### echo 'a b c d e f' | fold -w 5
echo 'a b c d e f' | fold -w 5
#| a b c
#|  d e 
#| f

#### echo 'a b c d e f' | fold -s -w 5
echo 'a b c d e f' | fold -s -w 5
#| a b 
#| c d 
#| e f

#### printf 'äöü\n' | fold -b -w 2 | od -c
printf 'äöü\n' | fold -b -w 2 | od -c
#| 0000000 303 244  \n 303 266  \n 303 274  \n
#| 0000011

#### echo abcdef | fold -3
echo abcdef | fold -3
#| abc
#| def

#### fold -w x 2>&1; echo $?
fold -w x 2>&1; echo $?
#| fold: invalid number of columns: 'x'
#| 1

#### fold -w 0 2>&1; echo $?
fold -w 0 2>&1; echo $?
#| fold: invalid number of columns: '0': Numerical result out of range
#| 1

#### echo 'a b c d e f' | fmt -w 6
echo 'a b c d e f' | fmt -w 6
#| a b c
#| d e f

#### echo 'a  b' | fmt -u
echo 'a  b' | fmt -u
#| a b

#### printf 'a\nb\n' | fmt -s
printf 'a\nb\n' | fmt -s
#| a
#| b

#### printf '> a\n> b\n' | fmt -p '>'
printf '> a\n> b\n' | fmt -p '>'
#| > a b

#### printf 'a\n  b\n' | fmt -c
printf 'a\n  b\n' | fmt -c
#| a b

#### printf 'a\n  b\n' | fmt -t
printf 'a\n  b\n' | fmt -t
#| a b

#### echo 'a b c d' | fmt -w 8 -g 4
echo 'a b c d' | fmt -w 8 -g 4
#| a b c d

#### fmt -w x 2>&1; echo $?
fmt -w x 2>&1; echo $?
#| fmt: invalid width: 'x'
#| 1

#### fmt nothing 2>&1; echo $?
fmt nothing 2>&1; echo $?
#| fmt: cannot open 'nothing' for reading: No such file or directory
#| 1

#### echo 'a b c' | fmt -5
echo 'a b c' | fmt -5
#| a
#| b c

#### printf 'a\tb\n' > f; expand f
printf 'a\tb\n' > f; expand f
#| a       b

#### printf 'a\tb\n' > f; expand -t 4 f
printf 'a\tb\n' > f; expand -t 4 f
#| a   b

#### printf 'a\tb\n' > f; expand -i f
printf 'a\tb\n' > f; expand -i f
#| a	b

#### printf 'a\tb\n' > f; expand -t 2,5 f
printf 'a\tb\n' > f; expand -t 2,5 f
#| a b

#### printf 'a\tb\n' > f; expand -3 f
printf 'a\tb\n' > f; expand -3 f
#| a  b

#### printf 'a\tb\n' > f; expand --tabs=/3 f
printf 'a\tb\n' > f; expand --tabs=/3 f
#| a  b

#### printf 'a\tb\n' > f; expand -t x f 2>&1; echo $?
printf 'a\tb\n' > f; expand -t x f 2>&1; echo $?
#| expand: tab size contains invalid character(s): 'x'
#| 1

#### printf 'a\tb\n' > f; expand -t 3,2 f 2>&1; echo $?
printf 'a\tb\n' > f; expand -t 3,2 f 2>&1; echo $?
#| expand: tab sizes must be ascending
#| 1

#### printf 'a\tb\n' > f; expand -t 0 f 2>&1; echo $?; printf '        a       b\n' | unexpand | od -c; printf '        a       b\n' | unexpand -a | od -c; printf '    a\n' | unexpand -t 4 | od -c; printf '        a       b\n' | unexpand -a --first-only | od -c
printf 'a\tb\n' > f; expand -t 0 f 2>&1; echo $?; printf '        a       b\n' | unexpand | od -c; printf '        a       b\n' | unexpand -a | od -c; printf '    a\n' | unexpand -t 4 | od -c; printf '        a       b\n' | unexpand -a --first-only | od -c
#| expand: tab size cannot be 0
#| 1
#| 0000000  \t   a                               b  \n
#| 0000013
#| 0000000  \t   a  \t   b  \n
#| 0000005
#| 0000000  \t   a  \n
#| 0000003
#| 0000000  \t   a                               b  \n
#| 0000013

#### seq 10 > f; split -l 4 f; wc -l x*
seq 10 > f; split -l 4 f; wc -l x*
#|  4 xaa
#|  4 xab
#|  2 xac
#| 10 total

#### seq 10 > f; split -n 2 f; ls x*
seq 10 > f; split -n 2 f; ls x*
#| xaa
#| xab

#### seq 10 > f; split -b 5 f p; ls p*
seq 10 > f; split -b 5 f p; ls p*
#| paa
#| pab
#| pac
#| pad
#| pae

#### seq 10 > f; split -d -l 5 f; ls x*
seq 10 > f; split -d -l 5 f; ls x*
#| x00
#| x01

#### seq 10 > f; split -x -l 5 f; ls x*
seq 10 > f; split -x -l 5 f; ls x*
#| x00
#| x01

#### seq 10 > f; split -a 3 -l 5 f; ls x*
seq 10 > f; split -a 3 -l 5 f; ls x*
#| xaaa
#| xaab

#### seq 10 > f; split --additional-suffix=.t -l 5 f; ls x*
seq 10 > f; split --additional-suffix=.t -l 5 f; ls x*
#| xaa.t
#| xab.t

#### seq 10 > f; split --numeric-suffixes=5 -l 5 f; ls x*
seq 10 > f; split --numeric-suffixes=5 -l 5 f; ls x*
#| x05
#| x06

#### seq 10 > f; split -C 7 f; ls x*
seq 10 > f; split -C 7 f; ls x*
#| xaa
#| xab
#| xac
#| xad

#### seq 10 > f; split -n l/2 f; ls x*
seq 10 > f; split -n l/2 f; ls x*
#| xaa
#| xab

#### seq 10 > f; split -n r/2 f; cat xaa
seq 10 > f; split -n r/2 f; cat xaa
#| 1
#| 3
#| 5
#| 7
#| 9

#### seq 10 > f; split -n 1/2 f
seq 10 > f; split -n 1/2 f
#| 1
#| 2
#| 3
#| 4
#| 5

#### seq 10 > f; split --verbose -l 5 f
seq 10 > f; split --verbose -l 5 f
#| creating file 'xaa'
#| creating file 'xab'

#### seq 10 > f; split --filter='wc -l' -l 5 f
seq 10 > f; split --filter='wc -l' -l 5 f
#| 5
#| 5

#### seq 10 > f; split -e -n 30 f y; ls y* | wc -l
seq 10 > f; split -e -n 30 f y; ls y* | wc -l
#| 21

#### seq 10 > f; printf 'a:b:' | split -t: -l1 - z; ls z*
seq 10 > f; printf 'a:b:' | split -t: -l1 - z; ls z*
#| zaa
#| zab

#### seq 10 > f; split -u -l 5 f; ls x*
seq 10 > f; split -u -l 5 f; ls x*
#| xaa
#| xab

#### split -l 0 f 2>&1; echo $?
split -l 0 f 2>&1; echo $?
#| split: invalid number of lines: '0': Numerical result out of range
#| 1

#### split -b x f 2>&1; echo $?
split -b x f 2>&1; echo $?
#| split: invalid number of bytes: 'x'
#| 1

#### split -n 0 f 2>&1; echo $?
split -n 0 f 2>&1; echo $?
#| split: invalid number of chunks: '0': Numerical result out of range
#| 1

#### split -a x f 2>&1; echo $?
split -a x f 2>&1; echo $?
#| split: invalid suffix length: 'x'
#| 1

#### split nothing 2>&1; echo $?
split nothing 2>&1; echo $?
#| split: cannot open 'nothing' for reading: No such file or directory
#| 1

#### split -l 1 -b 1 f 2>&1; echo $?
split -l 1 -b 1 f 2>&1; echo $?
#| split: cannot split in more than one way
#| Try 'split --help' for more information.
#| 1

#### split --additional-suffix=a/b f 2>&1; echo $?
split --additional-suffix=a/b f 2>&1; echo $?
#| split: invalid suffix 'a/b', contains directory separator
#| Try 'split --help' for more information.
#| 1

#### split a b c 2>&1; echo $?
split a b c 2>&1; echo $?
#| split: extra operand 'c'
#| Try 'split --help' for more information.
#| 1

#### seq 6 > f; csplit f 3
seq 6 > f; csplit f 3
#| 4
#| 8

#### seq 6 > f; csplit -s f /4/; cat xx01
seq 6 > f; csplit -s f /4/; cat xx01
#| 4
#| 5
#| 6

#### seq 6 > f; csplit -f p -n 3 f 3; ls p*
seq 6 > f; csplit -f p -n 3 f 3; ls p*
#| 4
#| 8
#| p000
#| p001

#### seq 6 > f; csplit -b %02d.t f 3; ls *.t
seq 6 > f; csplit -b %02d.t f 3; ls *.t
#| 4
#| 8
#| xx00.t
#| xx01.t

#### seq 6 > f; csplit -k f 3 20 2>&1
seq 6 > f; csplit -k f 3 20 2>&1
#| csplit: '20': line number out of range
#| 4
#| 8
#? 1

#### seq 6 > f; csplit -z f 1 3
seq 6 > f; csplit -z f 1 3
#| 4
#| 8

#### seq 6 > f; csplit --suppress-matched f /3/
seq 6 > f; csplit --suppress-matched f /3/
#| 4
#| 6

#### seq 6 > f; csplit -q f %3%; cat xx00
seq 6 > f; csplit -q f %3%; cat xx00
#| 3
#| 4
#| 5
#| 6

#### seq 6 > f; csplit f '/[24]/' '{1}'
seq 6 > f; csplit f '/[24]/' '{1}'
#| 2
#| 4
#| 6

#### seq 6 > f; csplit f 2>&1; echo $?
seq 6 > f; csplit f 2>&1; echo $?
#| csplit: missing operand after 'f'
#| Try 'csplit --help' for more information.
#| 1

#### seq 6 > f; csplit 2>&1; echo $?
seq 6 > f; csplit 2>&1; echo $?
#| csplit: missing operand
#| Try 'csplit --help' for more information.
#| 1

#### seq 6 > f; csplit nothing 1 2>&1; echo $?
seq 6 > f; csplit nothing 1 2>&1; echo $?
#| csplit: cannot open 'nothing' for reading: No such file or directory
#| 1

#### seq 6 > f; csplit f x 2>&1; echo $?
seq 6 > f; csplit f x 2>&1; echo $?
#| csplit: 'x': invalid pattern
#| 1

#### seq 6 > f; csplit f /q/ 2>&1; echo $?
seq 6 > f; csplit f /q/ 2>&1; echo $?
#| csplit: '/q/': match not found
#| 12
#| 1

#### printf 'a b\nccc d\n' > f; column -t f
printf 'a b\nccc d\n' > f; column -t f
#| a    b
#| ccc  d

#### printf 'a b\nccc d\n' > f; column -t -o '|' f
printf 'a b\nccc d\n' > f; column -t -o '|' f
#| a  |b
#| ccc|d

#### printf 'a b\nccc d\n' > f; printf 'a:b\n' | column -t -s:
printf 'a b\nccc d\n' > f; printf 'a:b\n' | column -t -s:
#| a  b

#### printf 'a b\nccc d\n' > f; column -t -N X,Y f
printf 'a b\nccc d\n' > f; column -t -N X,Y f
#| X    Y
#| a    b
#| ccc  d

#### printf 'a b\nccc d\n' > f; column -t -R 1 f
printf 'a b\nccc d\n' > f; column -t -R 1 f
#|   a  b
#| ccc  d

#### printf 'a b\nccc d\n' > f; seq 5 | column -c 20
printf 'a b\nccc d\n' > f; seq 5 | column -c 20
#| 1	4
#| 2	5
#| 3

#### printf 'a b\nccc d\n' > f; seq 5 | column -x -c 20
printf 'a b\nccc d\n' > f; seq 5 | column -x -c 20
#| 1	2
#| 3	4
#| 5

#### printf 'a b\nccc d\n' > f; printf 'a\n\nb\n' | column -t -L
printf 'a b\nccc d\n' > f; printf 'a\n\nb\n' | column -t -L
#| a
#|
#| b

#### printf 'a b\nccc d\n' > f; column -J -N x,y f
printf 'a b\nccc d\n' > f; column -J -N x,y f
#| {
#|    "table": [
#|       {
#|          "x": "a",
#|          "y": "b"
#|       },{
#|          "x": "ccc",
#|          "y": "d"
#|       }
#|    ]
#| }

#### printf 'a b\nccc d\n' > f; column -J -n t -N x,y f
printf 'a b\nccc d\n' > f; column -J -n t -N x,y f
#| {
#|    "t": [
#|       {
#|          "x": "a",
#|          "y": "b"
#|       },{
#|          "x": "ccc",
#|          "y": "d"
#|       }
#|    ]
#| }

#### printf 'a b\nccc d\n' > f; column -t -N X,Y -H Y f
printf 'a b\nccc d\n' > f; column -t -N X,Y -H Y f
#| X
#| a
#| ccc

#### printf 'a b\nccc d\n' > f; column -t -N X,Y -d f
printf 'a b\nccc d\n' > f; column -t -N X,Y -d f
#| a    b
#| ccc  d

#### printf 'a b\nccc d\n' > f; column -t -l 1 f
printf 'a b\nccc d\n' > f; column -t -l 1 f
#| a b
#| ccc d

#### printf 'a b\nccc d\n' > f; column -t -N X,Y -O Y,X f
printf 'a b\nccc d\n' > f; column -t -N X,Y -O Y,X f
#| Y  X
#| b  a
#| d  ccc

#### printf 'a b\nccc d\n' > f; column -t -N X,Y -e f
printf 'a b\nccc d\n' > f; column -t -N X,Y -e f
#| X    Y
#| a    b
#| ccc  d

#### column -z 2>&1; echo $?
column -z 2>&1; echo $?
#| column: invalid option -- 'z'
#| Try 'column --help' for more information.
#| 1

#### column nothing 2>&1; echo $?
column nothing 2>&1; echo $?
#| column: nothing: No such file or directory
#| 1

#### column -c x f 2>&1; echo $?
column -c x f 2>&1; echo $?
#| column: invalid columns argument: 'x'
#| 1

#### seq 3
seq 3
#| 1
#| 2
#| 3

#### seq 2 4
seq 2 4
#| 2
#| 3
#| 4

#### seq 1 2 5
seq 1 2 5
#| 1
#| 3
#| 5

#### seq -w 8 10
seq -w 8 10
#| 08
#| 09
#| 10

#### seq -s, 3
seq -s, 3
#| 1,2,3

#### seq -f %.2f 2
seq -f %.2f 2
#| 1.00
#| 2.00

#### seq 3 -1 1
seq 3 -1 1
#| 3
#| 2
#| 1

#### seq 2>&1; echo $?
seq 2>&1; echo $?
#| seq: missing operand
#| Try 'seq --help' for more information.
#| 1

#### seq 1 2 3 4 2>&1; echo $?
seq 1 2 3 4 2>&1; echo $?
#| seq: extra operand '4'
#| Try 'seq --help' for more information.
#| 1

#### seq x 2>&1; echo $?
seq x 2>&1; echo $?
#| seq: invalid floating point argument: 'x'
#| Try 'seq --help' for more information.
#| 1

#### seq 1 0 2 2>&1; echo $?
seq 1 0 2 2>&1; echo $?
#| seq: invalid Zero increment value: '0'
#| Try 'seq --help' for more information.
#| 1

#### seq -f %d 2 2>&1; echo $?
seq -f %d 2 2>&1; echo $?
#| seq: format '%d' has unknown %d directive
#| 1

#### seq -w -f %g 2 2>&1; echo $?
seq -w -f %g 2 2>&1; echo $?
#| seq: format string may not be specified when printing equal width strings
#| Try 'seq --help' for more information.
#| 1

#### shuf -e a b c | sort
shuf -e a b c | sort
#| a
#| b
#| c

#### shuf -i 1-3 | sort
shuf -i 1-3 | sort
#| 1
#| 2
#| 3

#### shuf -n 2 -i 1-9 | wc -l
shuf -n 2 -i 1-9 | wc -l
#| 2

#### seq 3 | shuf | sort
seq 3 | shuf | sort
#| 1
#| 2
#| 3

#### shuf -r -n 4 -e x
shuf -r -n 4 -e x
#| x
#| x
#| x
#| x

#### shuf -e a -o out; cat out
shuf -e a -o out; cat out
#| a

#### shuf -z -e a b | tr '\0' '\n' | sort
shuf -z -e a b | tr '\0' '\n' | sort
#| a
#| b

#### shuf -i x 2>&1; echo $?
shuf -i x 2>&1; echo $?
#| shuf: invalid input range: 'x'
#| 1

#### shuf -n x 2>&1; echo $?
shuf -n x 2>&1; echo $?
#| shuf: invalid line count: 'x'
#| 1

#### shuf nothing 2>&1; echo $?
shuf nothing 2>&1; echo $?
#| shuf: nothing: No such file or directory
#| 1

#### shuf -i 1-3 x 2>&1; echo $?
shuf -i 1-3 x 2>&1; echo $?
#| shuf: extra operand 'x'
#| Try 'shuf --help' for more information.
#| 1

#### shuf -e -i 1-2 2>&1; echo $?
shuf -e -i 1-2 2>&1; echo $?
#| shuf: cannot combine -e and -i options
#| Try 'shuf --help' for more information.
#| 1
