#### an option that is not there is named
du -t 5; df --total; env -v true; tree -J; zip -m a.zip f; install -b a b; factor -h 3; cksum -c f; chown --reference=a b
#~ ours
#! du: invalid option -- 't'
#! Try 'du --help' for more information.
#! df: unrecognized option '--total'
#! Try 'df --help' for more information.
#! env: invalid option -- 'v'
#! Try 'env --help' for more information.
#! tree: invalid option -- 'J'
#! Try 'tree --help' for more information.
#! zip: invalid option -- 'm'
#! Try 'zip --help' for more information.
#! install: invalid option -- 'b'
#! Try 'install --help' for more information.
#! factor: invalid option -- 'h'
#! Try 'factor --help' for more information.
#! cksum: invalid option -- 'c'
#! Try 'cksum --help' for more information.
#! chown: unrecognized option '--reference=a'
#! Try 'chown --help' for more information.
#? 1

#### a value that is not possible here is named
b2sum -l 128 < /dev/null; printf x | cksum -a bsd; fc -e vi; md5sum -l 8 < /dev/null
#~ ours
#! b2sum: a length of 128 bits is not supported, only 512
#! cksum: invalid argument 'bsd' for '--algorithm'
#! Try 'cksum --help' for more information.
#! bash: line 1: fc: -e: invalid option
#! fc: usage: fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]
#! md5sum: invalid option -- 'l'
#! Try 'md5sum --help' for more information.
#? 1
