#### an option that is not there is named
sort --random-source=f; shuf --random-source=f; env -v true; tree -H x; zip -d a.zip f; install -s a b; factor -h 3; tar --delete -f a; xargs -p; bc -s; gzip -N f; date --debug; yq -C . f; ls -D; cp --copy-contents a b
#~ ours
#! sort: unrecognized option '--random-source=f'
#! Try 'sort --help' for more information.
#! shuf: unrecognized option '--random-source=f'
#! Try 'shuf --help' for more information.
#! env: invalid option -- 'v'
#! Try 'env --help' for more information.
#! tree: invalid option -- 'H'
#! Try 'tree --help' for more information.
#! zip: invalid option -- 'd'
#! Try 'zip --help' for more information.
#! install: invalid option -- 's'
#! Try 'install --help' for more information.
#! factor: invalid option -- 'h'
#! Try 'factor --help' for more information.
#! tar: unrecognized option '--delete'
#! Try 'tar --help' or 'tar --usage' for more information.
#! xargs: invalid option -- 'p'
#! Try 'xargs --help' for more information.
#! bc: invalid option -- 's'
#! Try 'bc --help' for more information.
#! gzip: invalid option -- 'N'
#! Try `gzip --help' for more information.
#! date: unrecognized option '--debug'
#! Try 'date --help' for more information.
#! yq: invalid option -- 'C'
#! Try 'yq --help' for more information.
#! ls: invalid option -- 'D'
#! Try 'ls --help' for more information.
#! cp: unrecognized option '--copy-contents'
#! Try 'cp --help' for more information.
#? 1

#### a value that is not possible here is named
fc -e vi; md5sum -l 8 < /dev/null; b2sum -l 1024 < /dev/null; tar -I foo -cf a b
#~ ours
#! bash: line 1: fc: -e: invalid option
#! fc: usage: fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]
#! md5sum: invalid option -- 'l'
#! Try 'md5sum --help' for more information.
#! b2sum: invalid length: '1024'
#! b2sum: maximum digest length for 'BLAKE2b' is 512 bits
#! tar: --use-compress-program: 'foo' is none of gzip, bzip2, xz and zstd
#? 2
