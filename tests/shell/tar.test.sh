#### mkdir d; printf a > d/f; tar cf a.tar d; tar tf a.tar
mkdir d; printf a > d/f; tar cf a.tar d; tar tf a.tar
#| d/
#| d/f

#### mkdir d; printf a > d/f; tar -cf a.tar d; rm -r d; tar -xf a.tar; cat d/f; echo
mkdir d; printf a > d/f; tar -cf a.tar d; rm -r d; tar -xf a.tar; cat d/f; echo
#| a

#### mkdir d; printf a > d/f; tar czf a.tgz d; tar tzf a.tgz; tar tf a.tgz
mkdir d; printf a > d/f; tar czf a.tgz d; tar tzf a.tgz; tar tf a.tgz
#| d/
#| d/f
#| d/
#| d/f

#### mkdir d; printf a > d/f; tar cjf a.tbz d; tar tf a.tbz; tar cJf a.txz d; tar tf a.txz; tar --zstd -cf a.tzst d; tar tf a.tzst
mkdir d; printf a > d/f; tar cjf a.tbz d; tar tf a.tbz; tar cJf a.txz d; tar tf a.txz; tar --zstd -cf a.tzst d; tar tf a.tzst
#| d/
#| d/f
#| d/
#| d/f
#| d/
#| d/f

#### mkdir d; printf a > d/f; tar cvf a.tar d
mkdir d; printf a > d/f; tar cvf a.tar d
#| d/
#| d/f

#### mkdir d; printf a > d/f; tar cf a.tar d; tar xvf a.tar
mkdir d; printf a > d/f; tar cf a.tar d; tar xvf a.tar
#| d/
#| d/f

#### printf a > f; tar cf - f | tar xOf -; echo
printf a > f; tar cf - f | tar xOf -; echo
#| a

#### printf a > f; printf b > g; tar cf a.tar f g; tar xf a.tar g -O; echo
printf a > f; printf b > g; tar cf a.tar f g; tar xf a.tar g -O; echo
#| b

#### mkdir d o; printf a > d/f; tar cf a.tar -C d f; tar xf a.tar -C o; cat o/f; echo
mkdir d o; printf a > d/f; tar cf a.tar -C d f; tar xf a.tar -C o; cat o/f; echo
#| a

#### mkdir -p d/e; printf a > d/e/f; tar cf a.tar d; mkdir o; tar xf a.tar -C o --strip-components=1; find o | sort
mkdir -p d/e; printf a > d/e/f; tar cf a.tar d; mkdir o; tar xf a.tar -C o --strip-components=1; find o | sort
#| o
#| o/e
#| o/e/f

#### printf a > f.txt; printf b > g.log; tar cf a.tar --exclude='*.log' *; tar tf a.tar
printf a > f.txt; printf b > g.log; tar cf a.tar --exclude='*.log' *; tar tf a.tar
#| f.txt

#### printf a > f; tar cf a.tar f; printf b > g; tar rf a.tar g; tar tf a.tar
printf a > f; tar cf a.tar f; printf b > g; tar rf a.tar g; tar tf a.tar
#| f
#| g

#### printf a > f; tar cf a.tar f; tar tvf a.tar | awk '{print $1, $3, $6}'
printf a > f; tar cf a.tar f; tar tvf a.tar | awk '{print $1, $3, $6}'
#| -rw-r--r-- 1 f

#### printf a > f; ln -s f l; tar cf a.tar f l; rm l; tar xf a.tar; readlink l
printf a > f; ln -s f l; tar cf a.tar f l; rm l; tar xf a.tar; readlink l
#| f

#### printf a > f; ln -s f l; tar chf a.tar l; rm l f; tar xf a.tar; cat l; echo
printf a > f; ln -s f l; tar chf a.tar l; rm l f; tar xf a.tar; cat l; echo
#| a

#### printf a > f; printf 'f\n' > list; tar cf a.tar -T list; tar tf a.tar
printf a > f; printf 'f\n' > list; tar cf a.tar -T list; tar tf a.tar
#| f

#### printf a > f; tar caf a.tar.gz f; file a.tar.gz | cut -c1-26
printf a > f; tar caf a.tar.gz f; file a.tar.gz | cut -c1-26
#| a.tar.gz: gzip compressed 

#### printf a > f; tar cf a.tar f; printf b > f; tar xkf a.tar 2>&1; cat f; echo
printf a > f; tar cf a.tar f; printf b > f; tar xkf a.tar 2>&1; cat f; echo
#| tar: f: Cannot open: File exists
#| tar: Exiting with failure status due to previous errors
#| b

#### printf a > f; tar cf a.tar f; tar xf a.tar --transform='s/f/g/'; ls
printf a > f; tar cf a.tar f; tar xf a.tar --transform='s/f/g/'; ls
#| a.tar
#| f
#| g

#### printf a > f; touch -d 2001-02-03 f; tar cf a.tar f; rm f; tar xf a.tar; stat -c %y f | cut -c1-10
printf a > f; touch -d 2001-02-03 f; tar cf a.tar f; rm f; tar xf a.tar; stat -c %y f | cut -c1-10
#| 2001-02-03

#### printf a > f; chmod 640 f; tar cf a.tar f; rm f; tar xpf a.tar; stat -c %a f
printf a > f; chmod 640 f; tar cf a.tar f; rm f; tar xpf a.tar; stat -c %a f
#| 640

#### tar tf missing.tar 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
tar tf missing.tar 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| tar: missing.tar: Cannot open: No such file or directory
#| tar: Error is not recoverable: exiting now
#| 2

#### tar cf a.tar missing 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
tar cf a.tar missing 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| tar: missing: Cannot stat: No such file or directory
#| tar: Exiting with failure status due to previous errors
#| 2

#### printf nonsense > a.tar; tar tf a.tar 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
printf nonsense > a.tar; tar tf a.tar 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| tar: This does not look like a tar archive
#| tar: Exiting with failure status due to previous errors
#| 2

#### tar cf a.tar 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
tar cf a.tar 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| tar: Cowardly refusing to create an empty archive
#| Try 'tar --help' or 'tar --usage' for more information.
#| 2

#### tar 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p; echo ${PIPESTATUS[0]}
tar 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p; echo ${PIPESTATUS[0]}
#| tar: You must specify one of the '-Acdtrux', '--delete' or '--test-label' options
#| 2

#### tar xtf a.tar 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p; echo ${PIPESTATUS[0]}
tar xtf a.tar 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p; echo ${PIPESTATUS[0]}
#| tar: You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option
#| 2

#### tar --nonsense 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p; echo ${PIPESTATUS[0]}
tar --nonsense 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p; echo ${PIPESTATUS[0]}
#| tar: unrecognized option '--nonsense'
#| 64

#### printf a > f; tar cf a.tar f; tar xf a.tar nothere 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
printf a > f; tar cf a.tar f; tar xf a.tar nothere 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| tar: nothere: Not found in archive
#| tar: Exiting with failure status due to previous errors
#| 2

#### printf a > f; tar cf a.tar f; tar xf a.tar -C none 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
printf a > f; tar cf a.tar f; tar xf a.tar -C none 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| tar: none: Cannot open: No such file or directory
#| tar: Error is not recoverable: exiting now
#| 2

#### printf a > f; tar cf a.tar f; tar --list --file=a.tar; tar --extract --file a.tar --to-stdout; echo
printf a > f; tar cf a.tar f; tar --list --file=a.tar; tar --extract --file a.tar --to-stdout; echo
#| f
#| a

#### mkdir -p d/x; touch d/f; tar cf a.tar --no-recursion d; tar tf a.tar
mkdir -p d/x; touch d/f; tar cf a.tar --no-recursion d; tar tf a.tar
#| d/

#### printf a > f; tar cf a.tar f; tar xf a.tar --keep-old-files 2>&1 | head -1; tar xf a.tar --overwrite; echo $?
printf a > f; tar cf a.tar f; tar xf a.tar --keep-old-files 2>&1 | head -1; tar xf a.tar --overwrite; echo $?
#| tar: f: Cannot open: File exists
#| 0

#### printf a > f; tar cf a.tar --owner=root --group=root --mtime=2001-01-01 f; tar tvf a.tar | awk '{print $2, $4}'
printf a > f; tar cf a.tar --owner=root --group=root --mtime=2001-01-01 f; tar tvf a.tar | awk '{print $2, $4}'
#| root/root 2001-01-01
