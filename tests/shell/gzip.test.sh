#### printf 'hello\n' | gzip | gzip -d
printf 'hello\n' | gzip | gzip -d
#| hello

#### printf 'hello\n' > f; gzip f; ls; gunzip f.gz; ls; cat f
printf 'hello\n' > f; gzip f; ls; gunzip f.gz; ls; cat f
#| f.gz
#| f
#| hello

#### printf 'hello\n' > f; gzip -k f; ls; zcat f.gz
printf 'hello\n' > f; gzip -k f; ls; zcat f.gz
#| f
#| f.gz
#| hello

#### printf 'hello\n' > f; gzip -c f > g.gz; ls; gzip -dc g.gz
printf 'hello\n' > f; gzip -c f > g.gz; ls; gzip -dc g.gz
#| f
#| g.gz
#| hello

#### printf 'hello\n' > f; gzip -9 f; gzip -t f.gz; echo $?
printf 'hello\n' > f; gzip -9 f; gzip -t f.gz; echo $?
#| 0

#### seq 10000 > f; gzip -1 f; zcat f.gz | tail -1
seq 10000 > f; gzip -1 f; zcat f.gz | tail -1
#| 10000

#### printf a > f; printf b > g; gzip f g; zcat f.gz g.gz; echo
printf a > f; printf b > g; gzip f g; zcat f.gz g.gz; echo
#| ab

#### printf a > f; gzip f; printf b > f; gzip f < /dev/null 2>&1; echo $?; zcat f.gz
printf a > f; gzip f; printf b > f; gzip f < /dev/null 2>&1; echo $?; zcat f.gz
#| gzip: f.gz already exists;	not overwritten
#| 2
#|- a

#### printf a > f; gzip f; printf b > f; gzip -f f; zcat f.gz
printf a > f; gzip f; printf b > f; gzip -f f; zcat f.gz
#|- b

#### mkdir d; printf a > d/x; printf b > d/y; gzip -r d; ls d; gunzip -r d; ls d
mkdir d; printf a > d/x; printf b > d/y; gzip -r d; ls d; gunzip -r d; ls d
#| x.gz
#| y.gz
#| x
#| y

#### mkdir d; gzip d 2>&1; echo $?
mkdir d; gzip d 2>&1; echo $?
#| gzip: d is a directory -- ignored
#| 2

#### gzip missing 2>&1; echo $?
gzip missing 2>&1; echo $?
#| gzip: missing: No such file or directory
#| 1

#### gunzip missing 2>&1; echo $?
gunzip missing 2>&1; echo $?
#| gzip: missing.gz: No such file or directory
#| 1

#### printf a > f; gunzip f 2>&1; echo $?
printf a > f; gunzip f 2>&1; echo $?
#| gzip: f: unknown suffix -- ignored
#| 2

#### printf a > f.gz; gunzip f.gz 2>&1; echo $?
printf a > f.gz; gunzip f.gz 2>&1; echo $?
#|
#| gzip: f.gz: unexpected end of file
#| 1

#### printf 'a' | gunzip 2>&1; echo $?
printf 'a' | gunzip 2>&1; echo $?
#|
#| gzip: stdin: unexpected end of file
#| 1

#### printf a > f.gz; gzip -t f.gz 2>&1; echo $?
printf a > f.gz; gzip -t f.gz 2>&1; echo $?
#|
#| gzip: f.gz: unexpected end of file
#| 1

#### printf 'hello\n' | gzip | head -c 15 | gzip -dc 2>&1 | tail -1; echo ${PIPESTATUS[2]}
printf 'hello\n' | gzip | head -c 15 | gzip -dc 2>&1 | tail -1; echo ${PIPESTATUS[2]}
#| gzip: stdin: unexpected end of file
#| 0

#### printf a > f; gzip -S .z f; ls; gzip -d -S .z f.z; ls
printf a > f; gzip -S .z f; ls; gzip -d -S .z f.z; ls
#| f.z
#| f

#### printf a > f.gz; gzip f.gz 2>&1; echo $?
printf a > f.gz; gzip f.gz 2>&1; echo $?
#| gzip: f.gz already has .gz suffix -- unchanged
#| 0

#### printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' > f; gzip -v f 2>&1
printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' > f; gzip -v f 2>&1
#| f:	 89.5% -- replaced with f.gz

#### printf a > f.tar; gzip f.tar; mv f.tar.gz f.tgz; gunzip f.tgz; ls
printf a > f.tar; gzip f.tar; mv f.tar.gz f.tgz; gunzip f.tgz; ls
#| f.tar

#### { printf 'a\n' | gzip; printf 'b\n' | gzip; } | zcat
{ printf 'a\n' | gzip; printf 'b\n' | gzip; } | zcat
#| a
#| b

#### gzip -n < /dev/null | od -An -tx1 | head -1
gzip -n < /dev/null | od -An -tx1 | head -1
#|  1f 8b 08 00 00 00 00 00 00 03 03 00 00 00 00 00

#### printf x > f; gzip --nonsense f 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
printf x > f; gzip --nonsense f 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| gzip: unrecognized option '--nonsense'
#| 1

#### printf x | gzip -q | zcat; echo
printf x | gzip -q | zcat; echo
#| x

#### printf x > f; gzip --keep --best f; ls; gunzip --stdout f.gz; echo
printf x > f; gzip --keep --best f; ls; gunzip --stdout f.gz; echo
#| f
#| f.gz
#| x

#### printf 'x\n' > f; gzip f; zcat f; zcat -f f.gz
printf 'x\n' > f; gzip f; zcat f; zcat -f f.gz
#| x
#| x

#### printf 'plain\n' > f; zcat -f f; zcat f 2>&1; echo $?
printf 'plain\n' > f; zcat -f f; zcat f 2>&1; echo $?
#| plain
#|
#| gzip: f: not in gzip format
#| 1

#### printf x | zstd -q | zstd -dq; echo
printf x | zstd -q | zstd -dq; echo
#| x

#### printf x > f; zstd -q f; ls; rm f; unzstd -q f.zst; cat f; echo
printf x > f; zstd -q f; ls; rm f; unzstd -q f.zst; cat f; echo
#| f
#| f.zst
#| x

#### printf x > f; zstd -q --rm f; ls; zstdcat f.zst; echo
printf x > f; zstd -q --rm f; ls; zstdcat f.zst; echo
#| f.zst
#| x

#### printf x > f; zstd -q -19 f -o g.zst; zstd -dcq g.zst; echo
printf x > f; zstd -q -19 f -o g.zst; zstd -dcq g.zst; echo
#| x

#### printf x > f; zstd -q f; zstd -q f < /dev/null 2>/dev/null; echo $?; zstd -q -f f; echo $?
printf x > f; zstd -q f; zstd -q f < /dev/null 2>/dev/null; echo $?; zstd -q -f f; echo $?
#| 1
#| 0

#### zstd -q missing 2>/dev/null; echo $?
zstd -q missing 2>/dev/null; echo $?
#| 1

#### printf x > f.zst; zstd -d -q f.zst 2>/dev/null; echo $?
printf x > f.zst; zstd -d -q f.zst 2>/dev/null; echo $?
#| 1

#### printf x > f; zstd -q f; zstd -t -q f.zst; echo $?
printf x > f; zstd -q f; zstd -t -q f.zst; echo $?
#| 0

#### printf x > f; zstd -d -q f 2>/dev/null; echo $?
printf x > f; zstd -d -q f 2>/dev/null; echo $?
#| 1

#### printf x > f; zstd -q -k f; zstd -d -f -q f.zst; cat f; echo
printf x > f; zstd -q -k f; zstd -d -f -q f.zst; cat f; echo
#| x
