#### files more 1: printf a   f
printf a > f
cp -v f g | sed "s/[‘’]/'/g"
cp -n f g
cp -u f g
cp -p f h
cp -b f g
ls
cp -l f hard
stat -c %h f
cp -s $PWD/f soft
mkdir d e
cp -r d e
cp -t e f g
ls e
cp -T d n
cp -a d x
cp -L soft deref
cat deref
echo
cp -P soft link
cp f f 2>&1 | sed "s/[‘’]/'/g"
cp d f 2>&1 | sed "s/[‘’]/'/g"
cp -r d d/sub 2>&1 | sed "s/[‘’]/'/g"
cp none g 2>&1 | sed "s/[‘’]/'/g"
cp f g none 2>&1 | sed "s/[‘’]/'/g"
cp --backup=numbered f g
cat soft
echo
cp -f f g
cp -R d y
ls -d y
cp --preserve=mode f z
cp --no-preserve=mode f z2
#| 'f' -> 'g'
#| f
#| g
#| g~
#| h
#| 2
#| d
#| f
#| g
#| a
#| cp: 'f' and 'f' are the same file
#| cp: -r not specified; omitting directory 'd'
#| cp: cannot copy a directory, 'd', into itself, 'd/sub'
#| cp: cannot stat 'none': No such file or directory
#| cp: target 'none': No such file or directory
#| a
#| y

#### files more 2: printf a   f
printf a > f
mv -v f g | sed "s/[‘’]/'/g"
printf b > f
mv -n f g
cat g
echo
mv -f f g
cat g
echo
mkdir d
mv -t d g
ls d
printf c > c1
printf d > c2
mv c1 c2 d
ls d
printf q > q
mv -b q d/c1
ls d
mv -T d e
ls e
mkdir h
mv e h
ls h
mv h h/i 2>&1 | sed "s/[‘’]/'/g"
mv none x 2>&1 | sed "s/[‘’]/'/g"
printf x > x
mv x x 2>&1 | sed "s/[‘’]/'/g"
mv x none/y 2>&1 | sed "s/[‘’]/'/g"
mv -u x y
ls
mkdir k
mv k y 2>&1 | sed "s/[‘’]/'/g"
#| renamed 'f' -> 'g'
#| a
#| b
#| g
#| c1
#| c2
#| g
#| c1
#| c1~
#| c2
#| g
#| c1
#| c1~
#| c2
#| g
#| e
#| mv: cannot move 'h' to a subdirectory of itself, 'h/i'
#| mv: cannot stat 'none': No such file or directory
#| mv: 'x' and 'x' are the same file
#| mv: cannot move 'x' to 'none/y': No such file or directory
#| h
#| y
#| mv: cannot overwrite non-directory 'y' with directory 'k'

#### files more 3: touch f
touch f
ln f hard
ln -s f s
ln -sf f s
ln -sv f s2 | sed "s/[‘’]/'/g"
ln -s f s 2>&1 | sed "s/[‘’]/'/g"
mkdir d
ln -s ../f d
readlink d/f
ln -t d hard
ls d
ln -sr f d/rel
readlink d/rel
ln -sfn d dl
ln -sfn d dl
readlink dl
ln -sT f t
ln -sT f d 2>&1 | sed "s/[‘’]/'/g"
ln d dh 2>&1 | sed "s/[‘’]/'/g"
ln none x 2>&1 | sed "s/[‘’]/'/g"
ls
ln -s a b c 2>&1 | sed "s/[‘’]/'/g"
ln -L s sl
readlink sl
echo $?
cd d
ln ../hard
ls
#| 's2' -> 'f'
#| ln: failed to create symbolic link 's': File exists
#| ../f
#| f
#| hard
#| ../f
#| d
#| ln: failed to create symbolic link 'd': File exists
#| ln: d: hard link not allowed for directory
#| ln: failed to access 'none': No such file or directory
#| d
#| dl
#| f
#| hard
#| s
#| s2
#| t
#| ln: target 'c': No such file or directory
#| 1
#| f
#| hard
#| rel

#### files more 4: mkdir -p d e
mkdir -p d/e
touch d/f
rm -v d/f | sed "s/[‘’]/'/g"
rm d 2>&1 | sed "s/[‘’]/'/g"
rm -d d/e
rm -r d
rm none 2>&1 | sed "s/[‘’]/'/g"
rm -f none
echo $?
touch a b
echo y | rm -i a 2>/dev/null
ls
echo n | rm -i b 2>/dev/null
ls
rm -I b
mkdir g
touch g/h
rm -rv g | sed "s/[‘’]/'/g"
mkdir x
rmdir -v x | sed "s/[‘’]/'/g"
mkdir -p p/q
rmdir -p p/q
ls
mkdir -p p/q
rmdir p 2>&1 | sed "s/[‘’]/'/g"
rmdir --ignore-fail-on-non-empty p
echo $?
rmdir none 2>&1 | sed "s/[‘’]/'/g"
touch file
rmdir file 2>&1 | sed "s/[‘’]/'/g"
touch -- -x
rm -- -x
ls
#| removed 'd/f'
#| rm: cannot remove 'd': Is a directory
#| rm: cannot remove 'none': No such file or directory
#| 0
#| b
#| b
#| removed 'g/h'
#| removed directory 'g'
#| rmdir: removing directory, 'x'
#| rmdir: failed to remove 'p': Directory not empty
#| 0
#| rmdir: failed to remove 'none': No such file or directory
#| rmdir: failed to remove 'file': Not a directory
#| file
#| p

#### files more 5: touch -d  2001-02-03 04 05 06 UTC  f
touch -d '2001-02-03 04:05:06 UTC' f
chmod 640 f
stat -c '%n %s %a %A %F %h' f
stat -c '%y' f
stat -c '%Y %X' f
stat --printf='%n\t%s\n' f
mkdir d
ln -s f l
stat -c '%F %N' l d | sed "s/[‘’]/'/g"
stat -L -c %F l
stat -c '%t %T' f
stat -c '%x' f | cut -c1-10
stat -c '%10n|%-5s|%05a' f
stat none 2>&1 | sed "s/[‘’]/'/g"
stat 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p
mkfifo p
stat -c %F p
: > e
stat -c %F e
stat -t f | wc -w
stat -c '%u %g %d %i %o' f | wc -w
#| f 0 640 -rw-r----- regular empty file 1
#| 2001-02-03 04:05:06.000000000 +0000
#| 981173106 981173106
#| f	0
#| symbolic link 'l' -> 'f'
#| directory 'd'
#| regular empty file
#| 0 0
#| 2001-02-03
#|          f|0    |00640
#| stat: cannot statx 'none': No such file or directory
#| stat: missing operand
#| fifo
#| regular empty file
#| 16
#| 5

#### files more 6: printf  a nb nab n    f
printf 'a\nb\nab\n' > f
grep -c a f
grep -n b f
grep -L z f
grep -s a none
echo $?
grep -m 1 a f
grep -A1 a f
grep -B1 ab f
grep -C1 b f
printf 'a\n' > p
grep -f p f
grep -P 'a(?=b)' f
grep -b b f
grep -z a f | tr '\0' Z
mkdir d
cp f d
grep -r a d
grep -rl a d
grep -R --include='*.x' a d
grep -r --exclude=f a d
grep -T a f
grep --label=x -H a < f
printf 'a\0b\n' > bin
grep -I a bin
echo $?
grep --binary-files=text -c a bin
grep a d 2>&1
grep -d skip a d
echo $?
grep -E '(' f 2>&1
grep -A x a f 2>&1
grep -m x a f 2>&1
grep -on a f
grep 'a\b' f
grep '\<a' f
grep 'a\{1,2\}b' f
grep '^$' f
echo $?
grep '\(a\)\1*b' f
grep '[]a]' f
grep '[^[:alpha:]]' f
echo $?
grep 'a.\?' f
grep -E 'a+?b|^b$' f
grep '[a-' f 2>&1
grep '[[:nope:]]' f 2>&1
grep '\(' f 2>&1
grep 'a\{2,1\}' f 2>&1
grep -E 'a{1' f
echo $?
grep '*a' f
echo $?
grep -E '*a' f
echo $?
grep '[[.a.]]' f
grep '[[=a=]]' f
#| 2
#| 2:b
#| 3:ab
#| f
#| 2
#| a
#| a
#| b
#| ab
#| b
#| ab
#| a
#| b
#| ab
#| a
#| ab
#| ab
#| 2:b
#| 4:ab
#| a
#| b
#| ab
#| Zd/f:a
#| d/f:ab
#| d/f
#| a
#| ab
#| x:a
#| x:ab
#| 1
#| 1
#| grep: d: Is a directory
#| 1
#| grep: Unmatched ( or \(
#| grep: x: invalid context length argument
#| grep: invalid max count
#| 1:a
#| 3:a
#| a
#| a
#| ab
#| ab
#| 1
#| ab
#| a
#| ab
#| 1
#| a
#| ab
#| b
#| ab
#| grep: Unmatched [, [^, [:, [., or [=
#| grep: Invalid character class name
#| grep: Unmatched ( or \(
#| grep: Invalid content of \{\}
#| 1
#| 1
#| a
#| ab
#| 0
#| a
#| ab
#| a
#| ab
