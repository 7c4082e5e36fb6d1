#### echo 1 > a; echo 2 > b; cp --backup=numbered a b; cp --backup=numbered a b; ls; cat b.~1~ b.~2~
echo 1 > a; echo 2 > b; cp --backup=numbered a b; cp --backup=numbered a b; ls; cat b.~1~ b.~2~
#| a
#| b
#| b.~1~
#| b.~2~
#| 2
#| 1

#### echo 1 > a; echo 2 > b; cp --backup=simple a b; ls; cat b~
echo 1 > a; echo 2 > b; cp --backup=simple a b; ls; cat b~
#| a
#| b
#| b~
#| 2

#### echo 1 > a; echo 2 > b; cp --backup=never a b; ls
echo 1 > a; echo 2 > b; cp --backup=never a b; ls
#| a
#| b
#| b~

#### echo 1 > a; echo 2 > b; cp --backup=none a b; ls
echo 1 > a; echo 2 > b; cp --backup=none a b; ls
#| a
#| b

#### echo 1 > a; echo 2 > b; touch b.~3~; cp --backup=existing a b; ls
echo 1 > a; echo 2 > b; touch b.~3~; cp --backup=existing a b; ls
#| a
#| b
#| b.~3~
#| b.~4~

#### echo 1 > a; echo 2 > b; cp --backup a b; ls
echo 1 > a; echo 2 > b; cp --backup a b; ls
#| a
#| b
#| b~

#### echo 1 > a; echo 2 > b; cp -b a b; ls
echo 1 > a; echo 2 > b; cp -b a b; ls
#| a
#| b
#| b~

#### echo 1 > a; echo 2 > b; cp -bv a b
echo 1 > a; echo 2 > b; cp -bv a b
#| 'a' -> 'b' (backup: 'b~')

#### echo 1 > a; echo 2 > b; cp -S .old a b; ls
echo 1 > a; echo 2 > b; cp -S .old a b; ls
#| a
#| b
#| b.old

#### echo 1 > a; echo 2 > b; cp -b --suffix=.bak a b; ls
echo 1 > a; echo 2 > b; cp -b --suffix=.bak a b; ls
#| a
#| b
#| b.bak

#### echo 1 > a; echo 2 > b; VERSION_CONTROL=t cp -b a b; ls
echo 1 > a; echo 2 > b; VERSION_CONTROL=t cp -b a b; ls
#| a
#| b
#| b.~1~

#### echo 1 > a; echo 2 > b; SIMPLE_BACKUP_SUFFIX=.sv cp -b a b; ls
echo 1 > a; echo 2 > b; SIMPLE_BACKUP_SUFFIX=.sv cp -b a b; ls
#| a
#| b
#| b.sv

#### echo 1 > a; echo 2 > b; cp --backup=num a b; ls
echo 1 > a; echo 2 > b; cp --backup=num a b; ls
#| a
#| b
#| b.~1~

#### echo 1 > a; echo 2 > b; cp --backup=foo a b 2>&1
echo 1 > a; echo 2 > b; cp --backup=foo a b 2>&1
#| cp: invalid argument 'foo' for 'backup type'
#| Valid arguments are:
#|   - 'none', 'off'
#|   - 'simple', 'never'
#|   - 'existing', 'nil'
#|   - 'numbered', 't'
#| Try 'cp --help' for more information.
#? 1

#### echo 1 > a; echo 2 > b; cp -b -n a b 2>&1; echo $?
echo 1 > a; echo 2 > b; cp -b -n a b 2>&1; echo $?
#| cp: options --backup and --no-clobber are mutually exclusive
#| Try 'cp --help' for more information.
#| 1

#### echo 1 > a; cp -f -b a a; ls; cat a~
echo 1 > a; cp -f -b a a; ls; cat a~
#| a
#| a~
#| 1

#### echo 1 > a; cp a a 2>&1
echo 1 > a; cp a a 2>&1
#| cp: 'a' and 'a' are the same file
#? 1

#### echo 1 > a~; echo 2 > a; cp -b a~ a 2>&1; ls
echo 1 > a~; echo 2 > a; cp -b a~ a 2>&1; ls
#| cp: backing up 'a' might destroy source;  'a~' not copied
#| a
#| a~

#### echo 1 > a; echo 2 > b; mv --backup=numbered a b; ls; cat b b.~1~
echo 1 > a; echo 2 > b; mv --backup=numbered a b; ls; cat b b.~1~
#| b
#| b.~1~
#| 1
#| 2

#### echo 1 > a; echo 2 > b; mv -b a b; ls
echo 1 > a; echo 2 > b; mv -b a b; ls
#| b
#| b~

#### echo 1 > a; echo 2 > b; mv -bv a b
echo 1 > a; echo 2 > b; mv -bv a b
#| renamed 'a' -> 'b' (backup: 'b~')

#### echo 1 > a; echo 2 > b; mv -S .x a b; ls
echo 1 > a; echo 2 > b; mv -S .x a b; ls
#| b
#| b.x

#### mkdir a b; touch b/f; mv -bT a b; ls; ls b~
mkdir a b; touch b/f; mv -bT a b; ls; ls b~
#| b
#| b~
#| f

#### echo 1 > a; echo 2 > b; mv -f a b; cat b
echo 1 > a; echo 2 > b; mv -f a b; cat b
#| 1

#### echo 1 > a; echo 2 > b; mv -n a b; cat a b
echo 1 > a; echo 2 > b; mv -n a b; cat a b
#| 1
#| 2

#### echo 1 > a
echo 1 > a

#### echo 2 > b
echo 2 > b

#### echo n | mv -i a b 2>&1
echo n | mv -i a b 2>&1
#| mv: cannot stat 'a': No such file or directory
#? 1

#### echo; cat b
echo; cat b
#|
#? 1

#### echo y | mv -i a b 2>&1
echo y | mv -i a b 2>&1
#| mv: cannot stat 'a': No such file or directory
#? 1

#### mkdir d; echo 1 > a; mv --strip-trailing-slashes a d; ls d
mkdir d; echo 1 > a; mv --strip-trailing-slashes a d; ls d
#| a

#### mkdir d; touch a; mv -t d a; ls d
mkdir d; touch a; mv -t d a; ls d
#| a

#### mkdir d; touch a; mv -T a d 2>&1; echo $?
mkdir d; touch a; mv -T a d 2>&1; echo $?
#| mv: cannot overwrite directory 'd' with non-directory
#| 1

#### touch a; mv -u a b; ls
touch a; mv -u a b; ls
#| b

#### touch -d 2001-01-01 a; touch b; mv -u a b; ls
touch -d 2001-01-01 a; touch b; mv -u a b; ls
#| a
#| b

#### touch a; mv -v a b
touch a; mv -v a b
#| renamed 'a' -> 'b'

#### mv 2>&1; echo $?
mv 2>&1; echo $?
#| mv: missing file operand
#| Try 'mv --help' for more information.
#| 1

#### touch a; mv a 2>&1; echo $?
touch a; mv a 2>&1; echo $?
#| mv: missing destination file operand after 'a'
#| Try 'mv --help' for more information.
#| 1

#### mv no b 2>&1; echo $?
mv no b 2>&1; echo $?
#| mv: cannot stat 'no': No such file or directory
#| 1

#### touch a b c; mv a b c 2>&1; echo $?
touch a b c; mv a b c 2>&1; echo $?
#| mv: target 'c': Not a directory
#| 1

#### touch a; mv a no/ 2>&1; echo $?
touch a; mv a no/ 2>&1; echo $?
#| mv: cannot move 'a' to 'no/': Not a directory
#| 1

#### mkdir d; mv d d/e 2>&1; echo $?
mkdir d; mv d d/e 2>&1; echo $?
#| mv: cannot move 'd' to a subdirectory of itself, 'd/e'
#| 1

#### mkdir d e; touch e/f; touch d/f; mkdir x; mv d/f e/f x 2>&1; ls x
mkdir d e; touch e/f; touch d/f; mkdir x; mv d/f e/f x 2>&1; ls x
#| mv: will not overwrite just-created 'x/f' with 'e/f'
#| f

#### mkdir a b x; touch a/f b/f; cp a/f b/f x 2>&1; echo $?; ls x
mkdir a b x; touch a/f b/f; cp a/f b/f x 2>&1; echo $?; ls x
#| cp: will not overwrite just-created 'x/f' with 'b/f'
#| 1
#| f

#### mkdir x; touch f; cp f f x 2>&1; echo $?
mkdir x; touch f; cp f f x 2>&1; echo $?
#| cp: warning: source file 'f' specified more than once
#| 0

#### touch f; chmod 640 f; touch -d 2001-02-03 f; cp --preserve=mode,timestamps f g; stat -c '%a %y' g
touch f; chmod 640 f; touch -d 2001-02-03 f; cp --preserve=mode,timestamps f g; stat -c '%a %y' g
#| 640 2001-02-03 00:00:00.000000000 +0000

#### touch f; chmod 640 f; touch -d 2001-02-03 f; cp --preserve=timestamps f g; stat -c '%a %y' g
touch f; chmod 640 f; touch -d 2001-02-03 f; cp --preserve=timestamps f g; stat -c '%a %y' g
#| 640 2001-02-03 00:00:00.000000000 +0000

#### touch f; chmod 740 f; cp -p f g; stat -c %a g
touch f; chmod 740 f; cp -p f g; stat -c %a g
#| 740

#### touch f; chmod 777 f; cp --no-preserve=mode f g; stat -c %a g
touch f; chmod 777 f; cp --no-preserve=mode f g; stat -c %a g
#| 644

#### touch f; chmod 777 f; cp -p --no-preserve=mode f g; stat -c %a g
touch f; chmod 777 f; cp -p --no-preserve=mode f g; stat -c %a g
#| 644

#### touch f; cp --preserve=foo f g 2>&1; echo $?
touch f; cp --preserve=foo f g 2>&1; echo $?
#| cp: invalid argument 'foo' for '--preserve'
#| Valid arguments are:
#|   - 'mode'
#|   - 'timestamps'
#|   - 'ownership'
#|   - 'links'
#|   - 'context'
#|   - 'xattr'
#|   - 'all'
#| Try 'cp --help' for more information.
#| 1

#### touch f; cp --preserve=xattr,context f g 2>/dev/null; ls g
touch f; cp --preserve=xattr,context f g 2>/dev/null; ls g
#? 2

#### echo x > f; ln f g; mkdir d; cp --preserve=links f g d; stat -c %h d/f d/g
echo x > f; ln f g; mkdir d; cp --preserve=links f g d; stat -c %h d/f d/g
#| 2
#| 2

#### echo x > f; ln f g; mkdir d; cp f g d; stat -c %h d/f
echo x > f; ln f g; mkdir d; cp f g d; stat -c %h d/f
#| 1

#### mkdir d; echo x > d/f; ln d/f d/g; cp -a d e; stat -c %h e/f
mkdir d; echo x > d/f; ln d/f d/g; cp -a d e; stat -c %h e/f
#| 2

#### mkdir d; echo x > d/f; ln d/f d/g; cp -r d e; stat -c %h e/f
mkdir d; echo x > d/f; ln d/f d/g; cp -r d e; stat -c %h e/f
#| 1

#### echo x > f; ln -s f l; cp -d l m; readlink m
echo x > f; ln -s f l; cp -d l m; readlink m
#| f

#### echo x > f; ln -s f l; cp -L l m; test -L m || cat m
echo x > f; ln -s f l; cp -L l m; test -L m || cat m
#| x

#### mkdir d; echo x > d/f; ln -s f d/l; cp -rL d e; test -L e/l || cat e/l
mkdir d; echo x > d/f; ln -s f d/l; cp -rL d e; test -L e/l || cat e/l
#| x

#### mkdir d; echo x > d/f; ln -s f d/l; cp -rP d e; readlink e/l
mkdir d; echo x > d/f; ln -s f d/l; cp -rP d e; readlink e/l
#| f

#### mkdir d; echo x > d/f; ln -s d k; cp -rH k e; ls e
mkdir d; echo x > d/f; ln -s d k; cp -rH k e; ls e
#| f

#### mkdir d; echo x > d/f; ln -s d k; cp -r k e; readlink e
mkdir d; echo x > d/f; ln -s d k; cp -r k e; readlink e
#| d

#### echo x > f; cp -l f g; stat -c %h f
echo x > f; cp -l f g; stat -c %h f
#| 2

#### echo x > f; cp -s f g; readlink g
echo x > f; cp -s f g; readlink g
#| f

#### mkdir d; echo x > f; cp -s f d/g 2>&1; echo $?
mkdir d; echo x > f; cp -s f d/g 2>&1; echo $?
#| cp: d/g: can make relative symbolic links only in current directory
#| 1

#### echo x > f; cp -s "$PWD/f" g; test "$(readlink g)" = "$PWD/f" && echo same
echo x > f; cp -s "$PWD/f" g; test "$(readlink g)" = "$PWD/f" && echo same
#| same

#### echo x > f; cp -l -s f g 2>&1; echo $?
echo x > f; cp -l -s f g 2>&1; echo $?
#| cp: cannot make both hard and symbolic links
#| Try 'cp --help' for more information.
#| 1

#### echo x > f; echo y > g; cp -l f g 2>&1; echo $?
echo x > f; echo y > g; cp -l f g 2>&1; echo $?
#| cp: cannot create hard link 'g' to 'f': File exists
#| 1

#### echo x > f; echo y > g; cp -lf f g; cat g; stat -c %h f
echo x > f; echo y > g; cp -lf f g; cat g; stat -c %h f
#| x
#| 2

#### mkdir -p a/b d; echo x > a/b/c; cp --parents a/b/c d; find d | sort
mkdir -p a/b d; echo x > a/b/c; cp --parents a/b/c d; find d | sort
#| d
#| d/a
#| d/a/b
#| d/a/b/c

#### mkdir -p a/b d; echo x > a/b/c; cp -v --parents a/b/c d
mkdir -p a/b d; echo x > a/b/c; cp -v --parents a/b/c d
#| a -> d/a
#| a/b -> d/a/b
#| 'a/b/c' -> 'd/a/b/c'

#### mkdir -p a/b; echo x > a/b/c; cp --parents a/b/c e 2>&1; echo $?
mkdir -p a/b; echo x > a/b/c; cp --parents a/b/c e 2>&1; echo $?
#| cp: with --parents, the destination must be a directory
#| Try 'cp --help' for more information.
#| 1

#### echo x > f; echo y > g; cp --attributes-only f g; cat g
echo x > f; echo y > g; cp --attributes-only f g; cat g
#| y

#### echo x > f; chmod 700 f; cp --attributes-only --preserve=mode f g; stat -c '%a %s' g
echo x > f; chmod 700 f; cp --attributes-only --preserve=mode f g; stat -c '%a %s' g
#| 700 0

#### echo x > f; echo y > g; ln -s g l; cp --remove-destination f l; test -L l || cat l; cat g
echo x > f; echo y > g; ln -s g l; cp --remove-destination f l; test -L l || cat l; cat g
#| x
#| y

#### echo x > f; echo y > g; cp -v --remove-destination f g
echo x > f; echo y > g; cp -v --remove-destination f g
#| removed 'g'
#| 'f' -> 'g'

#### mkdir d; ln -s d k; echo x > f; cp --strip-trailing-slashes -r d/ e; ls -d e
mkdir d; ln -s d k; echo x > f; cp --strip-trailing-slashes -r d/ e; ls -d e
#| e

#### echo x > f; cp --sparse=always f g; cat g
echo x > f; cp --sparse=always f g; cat g
#| x

#### echo x > f; cp --sparse=foo f g 2>&1; echo $?
echo x > f; cp --sparse=foo f g 2>&1; echo $?
#| cp: invalid argument 'foo' for '--sparse'
#| Valid arguments are:
#|   - 'never'
#|   - 'auto'
#|   - 'always'
#| Try 'cp --help' for more information.
#| 1

#### echo x > f; cp --reflink=auto f g; cat g
echo x > f; cp --reflink=auto f g; cat g
#| x

#### echo x > f; cp --reflink=foo f g 2>&1; echo $?
echo x > f; cp --reflink=foo f g 2>&1; echo $?
#| cp: invalid argument 'foo' for '--reflink'
#| Valid arguments are:
#|   - 'auto'
#|   - 'always'
#|   - 'never'
#| Try 'cp --help' for more information.
#| 1

#### echo x > f; cp -x f g; cat g
echo x > f; cp -x f g; cat g
#| x

#### echo x > f; mkdir d; cp -t d f; cat d/f
echo x > f; mkdir d; cp -t d f; cat d/f
#| x

#### echo x > f; mkdir d; cp -T f d 2>&1; echo $?
echo x > f; mkdir d; cp -T f d 2>&1; echo $?
#| cp: cannot overwrite directory 'd' with non-directory
#| 1

#### echo x > f; mkdir d; cp -t d -T f 2>&1; echo $?
echo x > f; mkdir d; cp -t d -T f 2>&1; echo $?
#| cp: cannot combine --target-directory (-t) and --no-target-directory (-T)
#| 1

#### echo x > f; cp -T f g h 2>&1; echo $?
echo x > f; cp -T f g h 2>&1; echo $?
#| cp: extra operand 'h'
#| Try 'cp --help' for more information.
#| 1

#### echo x > f; touch -d 2001-01-01 f; echo y > g; cp -u f g; cat g
echo x > f; touch -d 2001-01-01 f; echo y > g; cp -u f g; cat g
#| y

#### echo x > f
echo x > f

#### echo y > g
echo y > g

#### echo n | cp -i f g 2>&1
echo n | cp -i f g 2>&1
#| cp: cannot stat 'f': No such file or directory
#? 1

#### echo; cat g
echo; cat g
#|
#? 1

#### echo x > f; echo y > g; yes | cp -i f g 2>&1; echo; cat g
echo x > f; echo y > g; yes | cp -i f g 2>&1; echo; cat g
#| cp: overwrite 'g'? 
#| x

#### echo x > f; echo y > g; cp -n f g; cat g
echo x > f; echo y > g; cp -n f g; cat g
#| y

#### mkdir d; cp d e 2>&1; echo $?
mkdir d; cp d e 2>&1; echo $?
#| cp: -r not specified; omitting directory 'd'
#| 1

#### mkdir d; cp -r d d/e 2>&1; echo $?
mkdir d; cp -r d d/e 2>&1; echo $?
#| cp: cannot copy a directory, 'd', into itself, 'd/e'
#| 1

#### cp 2>&1; echo $?
cp 2>&1; echo $?
#| cp: missing file operand
#| Try 'cp --help' for more information.
#| 1

#### echo x > f; cp f 2>&1; echo $?
echo x > f; cp f 2>&1; echo $?
#| cp: missing destination file operand after 'f'
#| Try 'cp --help' for more information.
#| 1

#### cp nothing g 2>&1; echo $?
cp nothing g 2>&1; echo $?
#| cp: cannot stat 'nothing': No such file or directory
#| 1

#### echo x > f; cp f no/g 2>&1; echo $?
echo x > f; cp f no/g 2>&1; echo $?
#| cp: cannot create regular file 'no/g': No such file or directory
#| 1

#### echo x > f; cp f no/ 2>&1; echo $?
echo x > f; cp f no/ 2>&1; echo $?
#| cp: cannot create regular file 'no/': Not a directory
#| 1

#### echo x > f; cp --frobnicate f g 2>&1; echo $?
echo x > f; cp --frobnicate f g 2>&1; echo $?
#| cp: unrecognized option '--frobnicate'
#| Try 'cp --help' for more information.
#| 1

#### echo x > f; cp -y f g 2>&1; echo $?
echo x > f; cp -y f g 2>&1; echo $?
#| cp: invalid option -- 'y'
#| Try 'cp --help' for more information.
#| 1

#### echo x > f; cp --no f g 2>&1 | sed 's/;.*//'; echo $?
echo x > f; cp --no f g 2>&1 | sed 's/;.*//'; echo $?
#| cp: option '--no' is ambiguous
#| Try 'cp --help' for more information.
#| 0

#### echo x > f; cp --rec f g && cat g
echo x > f; cp --rec f g && cat g
#| x

#### echo 1 > a; echo 2 > b; ln -b a b; ls; cat b~
echo 1 > a; echo 2 > b; ln -b a b; ls; cat b~
#| a
#| b
#| b~
#| 2

#### echo 1 > a; echo 2 > b; ln -sb a b; readlink b; cat b~
echo 1 > a; echo 2 > b; ln -sb a b; readlink b; cat b~
#| a
#| 2

#### echo 1 > a; echo 2 > b; ln --backup=numbered a b; ls
echo 1 > a; echo 2 > b; ln --backup=numbered a b; ls
#| a
#| b
#| b.~1~

#### echo 1 > a; echo 2 > b; ln -S .o a b; ls
echo 1 > a; echo 2 > b; ln -S .o a b; ls
#| a
#| b
#| b.o

#### echo 1 > a; echo 2 > b; ln -sbv a b
echo 1 > a; echo 2 > b; ln -sbv a b
#| 'b~' ~ 'b' -> 'a'

#### echo n | ln -i a b 2>&1
echo n | ln -i a b 2>&1
#| ln: failed to access 'a': No such file or directory
#? 1

#### echo y | ln -i a b 2>&1
echo y | ln -i a b 2>&1
#| ln: failed to access 'a': No such file or directory
#? 1

#### echo 1 > a; echo 2 > b; ln -f a b; cat b
echo 1 > a; echo 2 > b; ln -f a b; cat b
#| 1

#### echo 1 > a; ln a a 2>&1; echo $?
echo 1 > a; ln a a 2>&1; echo $?
#| ln: failed to create hard link 'a': File exists
#| 1

#### mkdir d; ln d e 2>&1; echo $?
mkdir d; ln d e 2>&1; echo $?
#| ln: d: hard link not allowed for directory
#| 1

#### mkdir d; ln -sv "../x" d
mkdir d; ln -sv "../x" d
#| 'd/x' -> '../x'

#### mkdir -p d/e; touch t; ln -rs t d/e/l; readlink d/e/l
mkdir -p d/e; touch t; ln -rs t d/e/l; readlink d/e/l
#| ../../t

#### touch t; ln -r t l 2>&1; echo $?
touch t; ln -r t l 2>&1; echo $?
#| ln: cannot do --relative without --symbolic
#| 1

#### touch t; mkdir d; ln -s -t d ../t; readlink d/t
touch t; mkdir d; ln -s -t d ../t; readlink d/t
#| ../t

#### touch t; ln -t no t 2>&1; echo $?
touch t; ln -t no t 2>&1; echo $?
#| ln: failed to access 'no': No such file or directory
#| 1

#### mkdir d; ln -s d k; ln -sfn x k; readlink k
mkdir d; ln -s d k; ln -sfn x k; readlink k
#| x

#### mkdir d; touch f; ln -sf f d; readlink d/f
mkdir d; touch f; ln -sf f d; readlink d/f
#| f

#### mkdir d; touch f; ln -sfT f d 2>&1; echo $?
mkdir d; touch f; ln -sfT f d 2>&1; echo $?
#| ln: d: cannot overwrite directory
#| 1

#### touch f; ln -s f l; ln -L l h; test -L h || echo file
touch f; ln -s f l; ln -L l h; test -L h || echo file
#| file

#### touch f; ln -s f l; ln -P l h; test -L h && echo link
touch f; ln -s f l; ln -P l h; test -L h && echo link
#| link

#### ln 2>&1; echo $?
ln 2>&1; echo $?
#| ln: missing file operand
#| Try 'ln --help' for more information.
#| 1

#### ln -s a b c 2>&1; echo $?
ln -s a b c 2>&1; echo $?
#| ln: target 'c': No such file or directory
#| 1

#### ln -T a 2>&1; echo $?
ln -T a 2>&1; echo $?
#| ln: missing destination file operand after 'a'
#| Try 'ln --help' for more information.
#| 1

#### ln no l 2>&1; echo $?
ln no l 2>&1; echo $?
#| ln: failed to access 'no': No such file or directory
#| 1

#### touch l; ln -s x l 2>&1; echo $?
touch l; ln -s x l 2>&1; echo $?
#| ln: failed to create symbolic link 'l': File exists
#| 1

#### touch a b c d; rm -I a b c </dev/null; ls
touch a b c d; rm -I a b c </dev/null; ls
#| d

#### touch a b c d; echo n | rm -I a b c d 2>&1; echo; ls
touch a b c d; echo n | rm -I a b c d 2>&1; echo; ls
#| rm: remove 4 arguments? 
#| a
#| b
#| c
#| d

#### touch a b c d; echo y | rm -I a b c d 2>&1; echo; ls
touch a b c d; echo y | rm -I a b c d 2>&1; echo; ls
#| rm: remove 4 arguments? 

#### mkdir d; touch d/f; echo n | rm -rI d 2>&1; echo; ls
mkdir d; touch d/f; echo n | rm -rI d 2>&1; echo; ls
#| rm: remove 1 argument recursively? 
#| d

#### touch a; echo y | rm --interactive=always a 2>&1; echo; ls
touch a; echo y | rm --interactive=always a 2>&1; echo; ls
#| rm: remove regular empty file 'a'? 

#### touch a; rm --interactive=never a; ls
touch a; rm --interactive=never a; ls

#### touch a; rm --interactive=foo a 2>&1; echo $?
touch a; rm --interactive=foo a 2>&1; echo $?
#| rm: invalid argument 'foo' for '--interactive'
#| Valid arguments are:
#|   - 'never', 'no', 'none'
#|   - 'once'
#|   - 'always', 'yes'
#| Try 'rm --help' for more information.
#| 1

#### mkdir -p d/e; touch d/e/g; yes | rm -ri d 2>&1; echo; ls
mkdir -p d/e; touch d/e/g; yes | rm -ri d 2>&1; echo; ls
#| rm: descend into directory 'd'? rm: descend into directory 'd/e'? rm: remove regular empty file 'd/e/g'? rm: remove directory 'd/e'? rm: remove directory 'd'? 

#### mkdir -p d/e; touch d/e/f; printf 'y\ny\nn\n' | rm -ri d 2>&1; echo; find d | sort
mkdir -p d/e; touch d/e/f; printf 'y\ny\nn\n' | rm -ri d 2>&1; echo; find d | sort
#| rm: descend into directory 'd'? rm: descend into directory 'd/e'? rm: remove regular empty file 'd/e/f'? rm: remove directory 'd/e'? rm: remove directory 'd'? 
#| d
#| d/e
#| d/e/f

#### touch a; mkdir d; rm -v a
touch a; mkdir d; rm -v a
#| removed 'a'

#### touch a; mkdir d; rm -dv d
touch a; mkdir d; rm -dv d
#| removed directory 'd'

#### touch a; mkdir d; rm -rv nothing 2>&1; echo $?
touch a; mkdir d; rm -rv nothing 2>&1; echo $?
#| rm: cannot remove 'nothing': No such file or directory
#| 1

#### mkdir -p d/e; touch d/f; rm -rv d | sort
mkdir -p d/e; touch d/f; rm -rv d | sort
#| removed 'd/f'
#| removed directory 'd'
#| removed directory 'd/e'

#### mkdir d; rm d 2>&1; echo $?
mkdir d; rm d 2>&1; echo $?
#| rm: cannot remove 'd': Is a directory
#| 1

#### mkdir d; touch d/f; rm -d d 2>&1; echo $?
mkdir d; touch d/f; rm -d d 2>&1; echo $?
#| rm: cannot remove 'd': Directory not empty
#| 1

#### rm 2>&1; echo $?
rm 2>&1; echo $?
#| rm: missing operand
#| Try 'rm --help' for more information.
#| 1

#### rm -f; echo $?
rm -f; echo $?
#| 0

#### rm -f nothing; echo $?
rm -f nothing; echo $?
#| 0

#### rm nothing 2>&1; echo $?
rm nothing 2>&1; echo $?
#| rm: cannot remove 'nothing': No such file or directory
#| 1

#### mkdir d; rm -r d/. 2>&1; echo $?
mkdir d; rm -r d/. 2>&1; echo $?
#| rm: refusing to remove '.' or '..' directory: skipping 'd/.'
#| 1

#### rm -rf / 2>&1; echo $?
rm -rf / 2>&1; echo $?
#~ nothing to ask an original
#| rm: it is dangerous to operate recursively on '/'
#| rm: use --no-preserve-root to override this failsafe
#| 1

#### rm --preserve-root=foo x 2>&1; echo $?
rm --preserve-root=foo x 2>&1; echo $?
#| rm: unrecognized --preserve-root argument: 'foo'
#| 1

#### touch f; rm -z f 2>&1; echo $?
touch f; rm -z f 2>&1; echo $?
#| rm: invalid option -- 'z'
#| Try 'rm --help' for more information.
#| 1

#### mkdir -pv a/b/c
mkdir -pv a/b/c
#| mkdir: created directory 'a'
#| mkdir: created directory 'a/b'
#| mkdir: created directory 'a/b/c'

#### mkdir -m 700 d; stat -c %a d
mkdir -m 700 d; stat -c %a d
#| 700

#### mkdir -p -m 700 a/b; stat -c %a a a/b
mkdir -p -m 700 a/b; stat -c %a a a/b
#| 755
#| 700

#### mkdir d; mkdir d 2>&1; echo $?
mkdir d; mkdir d 2>&1; echo $?
#| mkdir: cannot create directory 'd': File exists
#| 1

#### mkdir a/b 2>&1; echo $?
mkdir a/b 2>&1; echo $?
#| mkdir: cannot create directory 'a/b': No such file or directory
#| 1

#### mkdir 2>&1; echo $?
mkdir 2>&1; echo $?
#| mkdir: missing operand
#| Try 'mkdir --help' for more information.
#| 1

#### mkdir -m foo d 2>&1; echo $?
mkdir -m foo d 2>&1; echo $?
#| mkdir: invalid mode 'foo'
#| 1

#### mkdir -Z d; ls
mkdir -Z d; ls
#| d

#### mkdir -p a/b/c; rmdir -pv a/b/c
mkdir -p a/b/c; rmdir -pv a/b/c
#| rmdir: removing directory, 'a/b/c'
#| rmdir: removing directory, 'a/b'
#| rmdir: removing directory, 'a'

#### mkdir -p a/b; touch a/f; rmdir --ignore-fail-on-non-empty a; echo $?
mkdir -p a/b; touch a/f; rmdir --ignore-fail-on-non-empty a; echo $?
#| 0

#### mkdir -p a/b; rmdir a 2>&1; echo $?
mkdir -p a/b; rmdir a 2>&1; echo $?
#| rmdir: failed to remove 'a': Directory not empty
#| 1

#### rmdir 2>&1; echo $?
rmdir 2>&1; echo $?
#| rmdir: missing operand
#| Try 'rmdir --help' for more information.
#| 1

#### touch f; rmdir f 2>&1; echo $?
touch f; rmdir f 2>&1; echo $?
#| rmdir: failed to remove 'f': Not a directory
#| 1

#### touch -d '2001-02-03 04:05' f; stat -c %y f
touch -d '2001-02-03 04:05' f; stat -c %y f
#| 2001-02-03 04:05:00.000000000 +0000

#### touch -t 200102030405.06 f; stat -c %y f
touch -t 200102030405.06 f; stat -c %y f
#| 2001-02-03 04:05:06.000000000 +0000

#### touch -d 2001-02-03 f; touch -r f g; stat -c %y g
touch -d 2001-02-03 f; touch -r f g; stat -c %y g
#| 2001-02-03 00:00:00.000000000 +0000

#### touch -d '2001-02-03 00:00' f; touch -r f -d '1 day' g; stat -c %y g
touch -d '2001-02-03 00:00' f; touch -r f -d '1 day' g; stat -c %y g
#| 2001-02-04 00:00:00.000000000 +0000

#### touch -d 2001-02-03 f; touch -a f; stat -c %y f
touch -d 2001-02-03 f; touch -a f; stat -c %y f
#| 2001-02-03 00:00:00.000000000 +0000

#### touch -d 2001-02-03 f; touch -m -d 2002-02-03 f; stat -c '%x %y' f
touch -d 2001-02-03 f; touch -m -d 2002-02-03 f; stat -c '%x %y' f
#| 2001-02-03 00:00:00.000000000 +0000 2002-02-03 00:00:00.000000000 +0000

#### touch --time=atime -d 2002-02-03 f; stat -c %x f
touch --time=atime -d 2002-02-03 f; stat -c %x f
#| 2002-02-03 00:00:00.000000000 +0000

#### touch --time=foo f 2>&1; echo $?
touch --time=foo f 2>&1; echo $?
#| touch: invalid argument 'foo' for '--time'
#| Valid arguments are:
#|   - 'atime', 'access', 'use'
#|   - 'mtime', 'modify'
#| Try 'touch --help' for more information.
#| 1

#### touch -c f; ls
touch -c f; ls

#### touch -d foo f 2>&1; echo $?
touch -d foo f 2>&1; echo $?
#| touch: invalid date format 'foo'
#| 1

#### touch -t 99 f 2>&1; echo $?
touch -t 99 f 2>&1; echo $?
#| touch: invalid date format '99'
#| 1

#### touch -t 200102030405 -d 2001-01-01 f 2>&1; echo $?
touch -t 200102030405 -d 2001-01-01 f 2>&1; echo $?
#| touch: cannot specify times from more than one source
#| Try 'touch --help' for more information.
#| 1

#### touch 2>&1; echo $?
touch 2>&1; echo $?
#| touch: missing file operand
#| Try 'touch --help' for more information.
#| 1

#### ln -s f l; touch -h -d 2001-02-03 l; stat -c %y l
ln -s f l; touch -h -d 2001-02-03 l; stat -c %y l
#| 2001-02-03 00:00:00.000000000 +0000

#### touch no/f 2>&1; echo $?
touch no/f 2>&1; echo $?
#| touch: cannot touch 'no/f': No such file or directory
#| 1

#### echo x > a; echo y > b; install -b a b; ls; cat b~
echo x > a; echo y > b; install -b a b; ls; cat b~
#| a
#| b
#| b~
#| y

#### echo x > a; install -m 600 a b; stat -c %a b
echo x > a; install -m 600 a b; stat -c %a b
#| 600

#### echo x > a; install -v a b
echo x > a; install -v a b
#| 'a' -> 'b'

#### echo x > a; install -D a d/e/b; cat d/e/b
echo x > a; install -D a d/e/b; cat d/e/b
#| x

#### install -d a/b c; ls -d a/b c
install -d a/b c; ls -d a/b c
#| a/b
#| c

#### install -dv a/b
install -dv a/b
#| install: creating directory 'a'
#| install: creating directory 'a/b'

#### echo x > a; touch -d 2001-01-01 a; install -p a b; stat -c %y b
echo x > a; touch -d 2001-01-01 a; install -p a b; stat -c %y b
#| 2001-01-01 00:00:00.000000000 +0000

#### echo x > a; echo y > b; install --backup=numbered a b; ls
echo x > a; echo y > b; install --backup=numbered a b; ls
#| a
#| b
#| b.~1~

#### echo x > a; install -C a b; install -C -v a b
echo x > a; install -C a b; install -C -v a b

#### install 2>&1; echo $?
install 2>&1; echo $?
#| install: missing file operand
#| Try 'install --help' for more information.
#| 1

#### install a 2>&1; echo $?
install a 2>&1; echo $?
#| install: missing destination file operand after 'a'
#| Try 'install --help' for more information.
#| 1

#### echo x > a; mkdir d; install -t d a; cat d/a
echo x > a; mkdir d; install -t d a; cat d/a
#| x

#### echo x > a; mkdir d; install -T a d 2>&1; echo $?
echo x > a; mkdir d; install -T a d 2>&1; echo $?
#| install: cannot overwrite directory 'd' with non-directory
#| 1

#### mkdir d; install d e 2>&1; echo $?
mkdir d; install d e 2>&1; echo $?
#| install: omitting directory 'd'
#| 1
