#### printf a > f; install f g; stat -c '%a %n' g
printf a > f; install f g; stat -c '%a %n' g
#| 755 g

#### printf a > f; install -m 600 f g; stat -c %a g
printf a > f; install -m 600 f g; stat -c %a g
#| 600

#### printf a > f; mkdir d; install f d; ls d
printf a > f; mkdir d; install f d; ls d
#| f

#### install -d a/b c; ls -d a/b c; stat -c %a a/b
install -d a/b c; ls -d a/b c; stat -c %a a/b
#| a/b
#| c
#| 755

#### install -d -m 700 x; stat -c %a x
install -d -m 700 x; stat -c %a x
#| 700

#### printf a > f; install -D f a/b/g; cat a/b/g; echo
printf a > f; install -D f a/b/g; cat a/b/g; echo
#| a

#### printf a > f; printf b > g; mkdir d; install -t d f g; ls d
printf a > f; printf b > g; mkdir d; install -t d f g; ls d
#| f
#| g

#### printf a > f; install -v f g | sed "s/[‘’]/'/g"
printf a > f; install -v f g | sed "s/[‘’]/'/g"
#| 'f' -> 'g'

#### printf a > f; install -m u=rw,go=r f g; stat -c %a g
printf a > f; install -m u=rw,go=r f g; stat -c %a g
#| 644

#### install f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
install f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| install: missing destination file operand after 'f'
#| Try 'install --help' for more information.
#| 1

#### install 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
install 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| install: missing file operand
#| Try 'install --help' for more information.
#| 1

#### install missing g 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
install missing g 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| install: cannot stat 'missing': No such file or directory
#| 1

#### touch a b c; install a b c 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
touch a b c; install a b c 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| install: target 'c': Not a directory
#| 1

#### mkdir d; install d e 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
mkdir d; install d e 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| install: omitting directory 'd'
#| 1

#### printf a > f; install -m 9 f g 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
printf a > f; install -m 9 f g 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| install: invalid mode '9'
#| 1

#### printf a > f; install -p f g; [[ ! f -nt g && ! f -ot g ]] && echo same
printf a > f; install -p f g; [[ ! f -nt g && ! f -ot g ]] && echo same
#| same

#### printf a > f; install -C f g; install -C -v f g
printf a > f; install -C f g; install -C -v f g

#### printf a > f; install --nonsense f g 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
printf a > f; install --nonsense f g 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| install: unrecognized option '--nonsense'
#| Try 'install --help' for more information.
#| 1

#### printf a > f; install -T f g; cat g; echo; mkdir d; install -T f d 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
printf a > f; install -T f g; cat g; echo; mkdir d; install -T f d 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| a
#| install: cannot overwrite directory 'd' with non-directory
#| 1

#### printf a > f; link f g; stat -c %h f
printf a > f; link f g; stat -c %h f
#| 2

#### link f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
link f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| link: missing operand after 'f'
#| Try 'link --help' for more information.
#| 1

#### link a b c 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
link a b c 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| link: extra operand 'c'
#| Try 'link --help' for more information.
#| 1

#### link none g 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
link none g 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| link: cannot create link 'g' to 'none': No such file or directory
#| 1

#### touch f; unlink f; ls; echo $?
touch f; unlink f; ls; echo $?
#| 0

#### unlink none 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
unlink none 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| unlink: cannot unlink 'none': No such file or directory
#| 1

#### unlink 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
unlink 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| unlink: missing operand
#| Try 'unlink --help' for more information.
#| 1

#### unlink a b 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
unlink a b 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| unlink: extra operand 'b'
#| Try 'unlink --help' for more information.
#| 1

#### mkfifo p; stat -c %F p; ls -l p | cut -c1-10
mkfifo p; stat -c %F p; ls -l p | cut -c1-10
#| fifo
#| prw-r--r--

#### mkfifo -m 600 p; stat -c %a p
mkfifo -m 600 p; stat -c %a p
#| 600

#### mkfifo p; mkfifo p 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
mkfifo p; mkfifo p 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| mkfifo: cannot create fifo 'p': File exists
#| 1

#### mkfifo 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
mkfifo 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| mkfifo: missing operand
#| Try 'mkfifo --help' for more information.
#| 1

#### mkfifo none/p 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
mkfifo none/p 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| mkfifo: cannot create fifo 'none/p': No such file or directory
#| 1

#### mkfifo -m zz p 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
mkfifo -m zz p 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| mkfifo: invalid mode
#| 1

#### mkfifo p; echo hi > p & cat p
mkfifo p; echo hi > p & cat p
#| hi

#### ln -s a/b l; readlink l; readlink f; echo $?
ln -s a/b l; readlink l; readlink f; echo $?
#| a/b
#| 1

#### mkdir -p a/b; ln -s a/b l; realpath l | sed 's,.*/,,'; readlink -f l/../x | sed 's,.*/,,'
mkdir -p a/b; ln -s a/b l; realpath l | sed 's,.*/,,'; readlink -f l/../x | sed 's,.*/,,'
#| b
#| x

#### readlink 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
readlink 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| readlink: missing operand
#| Try 'readlink --help' for more information.
#| 1

#### touch f; readlink -v f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
touch f; readlink -v f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| readlink: f: Invalid argument
#| 1

#### ln -s x l; readlink -n l; echo; readlink -z l | od -c
ln -s x l; readlink -n l; echo; readlink -z l | od -c
#| x
#| 0000000   x  \0
#| 0000002

#### readlink -e none; echo $?; readlink -m none/x/../y | sed 's,.*/,,'
readlink -e none; echo $?; readlink -m none/x/../y | sed 's,.*/,,'
#| 1
#| y

#### mkdir -p a/b; realpath --relative-to=a a/b; realpath --relative-to=a/b a; realpath --relative-base=a a/b b | sed 's,.*/,,'
mkdir -p a/b; realpath --relative-to=a a/b; realpath --relative-to=a/b a; realpath --relative-base=a a/b b | sed 's,.*/,,'
#| b
#| ..
#| b
#| b

#### realpath none/x 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
realpath none/x 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| realpath: none/x: No such file or directory
#| 1

#### realpath -q none/x; echo $?
realpath -q none/x; echo $?
#| 1

#### realpath 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
realpath 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| realpath: missing operand
#| Try 'realpath --help' for more information.
#| 1

#### mkdir d; ln -s d l; realpath -s l | sed 's,.*/,,'; realpath -z d | tr '\0' Z | sed 's,.*/,,'; echo
mkdir d; ln -s d l; realpath -s l | sed 's,.*/,,'; realpath -z d | tr '\0' Z | sed 's,.*/,,'; echo
#| l
#| dZ

#### ln -s b a; ln -s a b; realpath a 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}; readlink -f a; echo $?
ln -s b a; ln -s a b; realpath a 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}; readlink -f a; echo $?
#| realpath: a: Too many levels of symbolic links
#| 1
#| 1

#### touch f; chown $(id -u) f; echo $?; chgrp $(id -g) f; echo $?
touch f; chown $(id -u) f; echo $?; chgrp $(id -g) f; echo $?
#| 0
#| 0

#### touch f; chown -v $(id -u) f 2>&1 | sed "s/[‘’]/'/g" | cut -d' ' -f1-3
touch f; chown -v $(id -u) f 2>&1 | sed "s/[‘’]/'/g" | cut -d' ' -f1-3
#| ownership of 'f'

#### chown nosuchuser f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
chown nosuchuser f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| chown: invalid user: 'nosuchuser'
#| 1

#### chgrp nosuchgroup f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
chgrp nosuchgroup f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| chgrp: invalid group: 'nosuchgroup'
#| 1

#### chown $(id -u) none 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
chown $(id -u) none 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| chown: cannot access 'none': No such file or directory
#| 1

#### chown 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
chown 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| chown: missing operand
#| Try 'chown --help' for more information.
#| 1

#### chown 1 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
chown 1 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| chown: missing operand after '1'
#| Try 'chown --help' for more information.
#| 1

