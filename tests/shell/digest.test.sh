#### printf abc | md5sum
printf abc | md5sum
#| 900150983cd24fb0d6963f7d28e17f72  -

#### printf abc | sha1sum
printf abc | sha1sum
#| a9993e364706816aba3e25717850c26c9cd0d89d  -

#### printf abc | sha224sum
printf abc | sha224sum
#| 23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7  -

#### printf abc | sha256sum
printf abc | sha256sum
#| ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  -

#### printf abc | sha384sum
printf abc | sha384sum
#| cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7  -

#### printf abc | sha512sum
printf abc | sha512sum
#| ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f  -

#### printf abc | b2sum
printf abc | b2sum
#| ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923  -

#### printf abc | cksum
printf abc | cksum
#| 1219131554 3

#### printf abc > f; printf '' > e; sha256sum f e
printf abc > f; printf '' > e; sha256sum f e
#| ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  f
#| e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  e

#### printf abc > f; sha1sum --tag f
printf abc > f; sha1sum --tag f
#| SHA1 (f) = a9993e364706816aba3e25717850c26c9cd0d89d

#### printf abc > f; md5sum -b f
printf abc > f; md5sum -b f
#| 900150983cd24fb0d6963f7d28e17f72 *f

#### printf abc > 'a b'; md5sum 'a b'
printf abc > 'a b'; md5sum 'a b'
#| 900150983cd24fb0d6963f7d28e17f72  a b

#### printf abc > 'a\b'; md5sum 'a\b'
printf abc > 'a\b'; md5sum 'a\b'
#| \900150983cd24fb0d6963f7d28e17f72  a\\b

#### printf abc > f; md5sum -z f | od -c | tail -2
printf abc > f; md5sum -z f | od -c | tail -2
#| 0000040           f  \0
#| 0000044

#### printf abc > f; sha256sum f > s; sha256sum -c s
printf abc > f; sha256sum f > s; sha256sum -c s
#| f: OK

#### printf abc > f; md5sum f > s; printf x >> f; md5sum -c s 2>&1; echo $?
printf abc > f; md5sum f > s; printf x >> f; md5sum -c s 2>&1; echo $?
#| f: FAILED
#| md5sum: WARNING: 1 computed checksum did NOT match
#| 1

#### printf abc > f; md5sum f > s; rm f; md5sum -c s 2>&1; echo $?
printf abc > f; md5sum f > s; rm f; md5sum -c s 2>&1; echo $?
#| md5sum: f: No such file or directory
#| f: FAILED open or read
#| md5sum: WARNING: 1 listed file could not be read
#| 1

#### printf abc > f; md5sum f > s; rm f; md5sum -c --ignore-missing s 2>&1; echo $?
printf abc > f; md5sum f > s; rm f; md5sum -c --ignore-missing s 2>&1; echo $?
#| md5sum: s: no file was verified
#| 1

#### printf abc > f; md5sum f > s; md5sum -c --quiet s; echo $?
printf abc > f; md5sum f > s; md5sum -c --quiet s; echo $?
#| 0

#### printf abc > f; md5sum f > s; md5sum --status -c s; echo $?
printf abc > f; md5sum f > s; md5sum --status -c s; echo $?
#| 0

#### printf abc > f; md5sum f > s; printf y > f; md5sum --status -c s; echo $?
printf abc > f; md5sum f > s; printf y > f; md5sum --status -c s; echo $?
#| 1

#### printf abc > f; { echo nonsense; md5sum f; } > s; md5sum -c s 2>&1; echo $?
printf abc > f; { echo nonsense; md5sum f; } > s; md5sum -c s 2>&1; echo $?
#| f: OK
#| md5sum: WARNING: 1 line is improperly formatted
#| 0

#### printf abc > f; { echo nonsense; md5sum f; } > s; md5sum -c -w s 2>&1; echo $?
printf abc > f; { echo nonsense; md5sum f; } > s; md5sum -c -w s 2>&1; echo $?
#| md5sum: s: 1: improperly formatted MD5 checksum line
#| f: OK
#| md5sum: WARNING: 1 line is improperly formatted
#| 0

#### printf abc > f; { echo nonsense; md5sum f; } > s; md5sum -c --strict s 2>&1; echo $?
printf abc > f; { echo nonsense; md5sum f; } > s; md5sum -c --strict s 2>&1; echo $?
#| f: OK
#| md5sum: WARNING: 1 line is improperly formatted
#| 1

#### echo nonsense > s; md5sum -c s 2>&1; echo $?
echo nonsense > s; md5sum -c s 2>&1; echo $?
#| md5sum: s: no properly formatted checksum lines found
#| 1

#### printf abc > f; sha1sum --tag f | sha1sum -c
printf abc > f; sha1sum --tag f | sha1sum -c
#| f: OK

#### printf abc > f; md5sum < f | md5sum -c < /dev/null 2>&1; echo $?
printf abc > f; md5sum < f | md5sum -c < /dev/null 2>&1; echo $?
#| md5sum: 'standard input': no properly formatted checksum lines found
#| 1

#### md5sum missing 2>&1; echo $?
md5sum missing 2>&1; echo $?
#| md5sum: missing: No such file or directory
#| 1

#### mkdir d; md5sum d 2>&1; echo $?
mkdir d; md5sum d 2>&1; echo $?
#| md5sum: d: Is a directory
#| 1

#### sha256sum -c missing 2>&1; echo $?
sha256sum -c missing 2>&1; echo $?
#| sha256sum: missing: No such file or directory
#| 1

#### md5sum --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
md5sum --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| md5sum: unrecognized option '--nonsense'
#| Try 'md5sum --help' for more information.
#| 1

#### md5sum - - < /dev/null
md5sum - - < /dev/null
#| d41d8cd98f00b204e9800998ecf8427e  -
#| d41d8cd98f00b204e9800998ecf8427e  -

#### cksum < /dev/null
cksum < /dev/null
#| 4294967295 0

#### seq 1000 | cksum
seq 1000 | cksum
#| 1830648734 3893

#### printf abc > f; cksum f missing 2>&1
printf abc > f; cksum f missing 2>&1
#| 1219131554 3 f
#| cksum: missing: No such file or directory
#? 1

#### printf abc > f; cksum -a md5 f
printf abc > f; cksum -a md5 f
#| MD5 (f) = 900150983cd24fb0d6963f7d28e17f72

#### printf abc > f; cksum -a sha256 --untagged f
printf abc > f; cksum -a sha256 --untagged f
#| ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  f

#### cksum -a nonsense < /dev/null 2>&1 | sed "s/[‘’]/'/g" | head -1
cksum -a nonsense < /dev/null 2>&1 | sed "s/[‘’]/'/g" | head -1
#| cksum: invalid argument 'nonsense' for '--algorithm'

#### md5sum --quiet < /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
md5sum --quiet < /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| md5sum: the --quiet option is meaningful only when verifying checksums
#| Try 'md5sum --help' for more information.
#| 1
