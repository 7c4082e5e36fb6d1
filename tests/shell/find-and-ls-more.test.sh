#### find and ls 1: mkdir -p a b c
mkdir -p a/b/c
touch a/f a/b/g.txt a/b/c/h
printf xx > a/x
find a -type f | sort
find a -name '*.txt' -o -name x | sort
find a -maxdepth 1 | sort
find a -mindepth 2 -type d
find a -path '*b*' | sort
find a -empty | sort
find a -size 2c
find a -not -type d -a ! -name f | sort
#| a/b/c/h
#| a/b/g.txt
#| a/f
#| a/x
#| a/b/g.txt
#| a/x
#| a
#| a/b
#| a/f
#| a/x
#| a/b/c
#| a/b
#| a/b/c
#| a/b/c/h
#| a/b/g.txt
#| a/b/c/h
#| a/b/g.txt
#| a/f
#| a/x
#| a/b/c/h
#| a/b/g.txt
#| a/x

#### find and ls 2: mkdir -p a b
mkdir -p a/b
touch a/f a/b/g
find a -name b -prune -o -print | sort
find a -type f -exec echo {} \; | sort
find a -type f -exec echo {} + | tr ' ' '\n' | sort
find a -type f -print0 | sort -z | tr '\0' '\n'
find a -printf '%f %y %d %h %P %p\n' | sort
find a -type f -delete
find a | sort
find a -depth
#| a
#| a/f
#| a/b/g
#| a/f
#| a/b/g
#| a/f
#| a/b/g
#| a/f
#| a d 0 .  a
#| b d 1 a b a/b
#| f f 1 a f a/f
#| g f 2 a/b b/g a/b/g
#| a
#| a/b
#| a/b
#| a

#### find and ls 3: mkdir a
mkdir a
touch -d '2001-01-01' a/old
touch a/new
find a -newer a/old -type f
find a -mtime +100
find a -mmin -10 -type f
find a -newermt 2010-01-01 -type f
touch -d '2 days ago' a/two
find a -mtime 2
find a -daystart -mtime -1 -type f
chmod 600 a/new
find a -perm 600
find a -perm -600 -name new
find a -perm /111 -type d
ln -s new a/l
find a -type l
find a -lname new
find -L a -type f | sort
find a -xtype f | sort
#| a/new
#| a/old
#| a/new
#| a/new
#| a/two
#| a/new
#| a/new
#| a/new
#| a
#| a/l
#| a/l
#| a/l
#| a/new
#| a/old
#| a/two
#| a/l
#| a/new
#| a/old
#| a/two

#### find and ls 4: mkdir a
mkdir a
touch a/A a/b
find a -iname a | sort
find a -regex '.*/[Ab]' | sort
find a -regextype posix-extended -regex 'a/(A|b)' | sort
find a -iregex '.*A'
find a -links 1 -type f | sort
find a -inum 0
find a -true -false
find a -name A -ls | wc -l
find a -fprint out
sort out
find a -readable -writable -name b
find a -executable -type d
find a \( -name A -or -name b \) -and -type f | sort
find a -samefile a/A
find a -name A -execdir echo {} \;
find a -size +0
find a -type f,d | sort
find a -printf '%s %m %M %n %l|%%\n' | sort | sed -n 1p | cut -d' ' -f2
#| a
#| a/A
#| a/A
#| a/b
#| a/A
#| a/b
#| a
#| a/A
#| a/A
#| a/b
#| 1
#| a
#| a/A
#| a/b
#| a/b
#| a
#| a/A
#| a/b
#| a/A
#| ./A
#| a
#| a
#| a/A
#| a/b
#| 644

#### find and ls 5: find none 2 1
echo $?
find . -nope 2>&1
echo $?
find . -name 2>&1
echo $?
find . -type q 2>&1
echo $?
find . -exec echo 2>&1
echo $?
echo $?
echo $?
find . -size x 2>&1
echo $?
find . -mtime x 2>&1
echo $?
echo $?
echo $?
echo $?
find . -regex '\(' 2>&1 | cut -c1-30
find . -name a -name 2>&1
#| 0
#| find: unknown predicate `-nope'
#| 1
#| find: missing argument to `-name'
#| 1
#| find: Unknown argument to -type: q
#| 1
#| find: missing argument to `-exec'
#| 1
#| 0
#| 0
#| find: invalid -size type `x'
#| 1
#| find: invalid argument `x' to `-mtime'
#| 1
#| 0
#| 0
#| 0
#| find: failed to compile regula
#| find: missing argument to `-name'
#? 1

#### find and ls 6: mkdir d
mkdir d
touch d/a d/b d/.h
ls d
ls -a d
ls -A d
ls -1 d
ls -m d
ls -r d
ls -d d
ls -F
ls -p
ls -Q d
ls -x d
ls -C d
ls --format=commas d
ls -R
ls d/a d
ls -B d
ls -I a d
ls --hide=b d
ls -U d | sort
ls --zero d | tr '\0' ,
#| a
#| b
#| .
#| ..
#| .h
#| a
#| b
#| .h
#| a
#| b
#| a
#| b
#| a, b
#| b
#| a
#| d
#| d/
#| d/
#| "a"
#| "b"
#| a  b
#| a  b
#| a, b
#| .:
#| d
#|
#| ./d:
#| a
#| b
#| d/a
#|
#| d:
#| a
#| b
#| a
#| b
#| b
#| a
#| a
#| b
#|- a,b,

#### find and ls 7: printf 12345   big
printf 12345 > big
printf 1 > small
touch -d 2001-01-01 old
ls -S
ls -t | tail -1
ls -Sr
ls -l big | cut -c1-10
ls -s > /dev/null
ls -l --time-style=+%Y old | awk '{print $6}'
ls -lh big | awk '{print $5}'
ls -o big | awk '{print NF}'
ls -g big | awk '{print NF}'
ls -ln big | awk '{print $5}'
ls -X
touch a.c b.a
ls -X
ls -v
touch f10 f9 f1
ls -v f*
ls --sort=size big small
ls --full-time old | awk '{print $6}'
ls -l --time-style=long-iso old | awk '{print $6, $7}'
ls -l --time-style=full-iso old | awk '{print $6}'
ls -i big | awk '{print NF}'
ls -T 4 > /dev/null
ls -w 10 f*
ls -N
ls -b 'x y' 2>&1
touch 'x y'
ls -b 'x y'
ls --quoting-style=shell 'x y'
ls --quoting-style=c 'x y'
ls -q
ls --color=never big
#| big
#| small
#| old
#| old
#| old
#| small
#| big
#| -rw-r--r--
#| 2001
#| 5
#| 8
#| 8
#| 5
#| big
#| old
#| small
#| big
#| old
#| small
#| b.a
#| a.c
#| a.c
#| b.a
#| big
#| old
#| small
#| f1
#| f9
#| f10
#| big
#| small
#| 2001-01-01
#| 2001-01-01 00:00
#| 2001-01-01
#| 2
#| f1
#| f10
#| f9
#| a.c
#| b.a
#| big
#| f1
#| f10
#| f9
#| old
#| small
#| ls: cannot access 'x y': No such file or directory
#| x\ y
#| 'x y'
#| "x y"
#| a.c
#| b.a
#| big
#| f1
#| f10
#| f9
#| old
#| small
#| x y
#| big

#### find and ls 8: ls none 2 1
ls none 2>&1
echo $?
ls --sort=nope 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p
ln -s none l
ls -l l | awk '{print $9, $10, $11}'
mkdir d
ln -s d k
ls -d k/
ls -F
ls --file-type
ls -lF k | awk '{print $NF}'
chmod 4755 d
chmod 1777 d
ls -ld d | cut -c1-10
touch s
chmod 6644 s
ls -l s | cut -c1-10
chmod 7777 s
ls -l s | cut -c1-10
#| ls: cannot access 'none': No such file or directory
#| 2
#| ls: invalid argument 'nope' for '--sort'
#| l -> none
#| k/
#| d/
#| k@
#| l@
#| d/
#| k@
#| l@
#| d/
#| drwsrwxrwt
#| -rwSr-Sr--
#| -rwsrwsrwt
