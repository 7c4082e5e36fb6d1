#### echo hello > f; bzip2 f; ls; bunzip2 f.bz2; ls; cat f
echo hello > f; bzip2 f; ls; bunzip2 f.bz2; ls; cat f
#| f.bz2
#| f
#| hello

#### echo hello > f; bzip2 -k f; ls
echo hello > f; bzip2 -k f; ls
#| f
#| f.bz2

#### echo hello | bzip2 | bzip2 -d
echo hello | bzip2 | bzip2 -d
#| hello

#### echo hello | bzip2 -c | bunzip2 -c
echo hello | bzip2 -c | bunzip2 -c
#| hello

#### echo hello > f; bzip2 f; bzcat f.bz2
echo hello > f; bzip2 f; bzcat f.bz2
#| hello

#### echo hello > f; bzip2 -c f > g.bz2; bzip2 -dc g.bz2; ls
echo hello > f; bzip2 -c f > g.bz2; bzip2 -dc g.bz2; ls
#| hello
#| f
#| g.bz2

#### echo a | bzip2 > x.bz2; echo b | bzip2 >> x.bz2; bzcat x.bz2
echo a | bzip2 > x.bz2; echo b | bzip2 >> x.bz2; bzcat x.bz2
#| a
#| b

#### bzip2 nofile
bzip2 nofile
#? 1

#### echo x > f; bzip2 -k f; bzip2 f 2>/dev/null; echo $?
echo x > f; bzip2 -k f; bzip2 f 2>/dev/null; echo $?
#| 1

#### echo x > f; bzip2 -k f; bzip2 f
echo x > f; bzip2 -k f; bzip2 f
#? 1

#### echo x > f; bzip2 -k f; bzip2 -f f; echo $?; ls
echo x > f; bzip2 -k f; bzip2 -f f; echo $?; ls
#| 0
#| f.bz2

#### echo x > f.bz2; bzip2 f.bz2 2>/dev/null; echo $?
echo x > f.bz2; bzip2 f.bz2 2>/dev/null; echo $?
#| 1

#### echo x > f.bz2; bzip2 -d f.bz2 2>/dev/null; echo $?; ls
echo x > f.bz2; bzip2 -d f.bz2 2>/dev/null; echo $?; ls
#| 2
#| f.bz2

#### echo junk | bzip2 -dc 2>/dev/null; echo $?
echo junk | bzip2 -dc 2>/dev/null; echo $?
#| 2

#### echo junk | bzip2 -dc
echo junk | bzip2 -dc
#? 2

#### echo hi > f; bzip2 f; bzip2 -t f.bz2; echo $?
echo hi > f; bzip2 f; bzip2 -t f.bz2; echo $?
#| 0

#### seq 1 5000 | bzip2 -9 | bzip2 -d | tail -1
seq 1 5000 | bzip2 -9 | bzip2 -d | tail -1
#| 5000

#### seq 1 5000 | bzip2 -1 > f; test $(wc -c < f) -lt 12000 && echo small
seq 1 5000 | bzip2 -1 > f; test $(wc -c < f) -lt 12000 && echo small
#| small

#### printf '' | bzip2 | bzip2 -d | wc -c
printf '' | bzip2 | bzip2 -d | wc -c
#| 0

#### mkdir d; bzip2 d 2>/dev/null; echo $?
mkdir d; bzip2 d 2>/dev/null; echo $?
#| 1

#### echo x > f; bzip2 -d f 2>/dev/null; echo $?; ls
echo x > f; bzip2 -d f 2>/dev/null; echo $?; ls
#| 2
#| f

#### bzip2 --foo < /dev/null > /dev/null 2>&1; echo $?
bzip2 --foo < /dev/null > /dev/null 2>&1; echo $?
#| 1

#### echo hello > f; tar -cjf a.tar.bz2 f; bzcat a.tar.bz2 | tar -tf -
echo hello > f; tar -cjf a.tar.bz2 f; bzcat a.tar.bz2 | tar -tf -
#| f

#### echo hello > f; xz f; ls; unxz f.xz; ls; cat f
echo hello > f; xz f; ls; unxz f.xz; ls; cat f
#| f.xz
#| f
#| hello

#### echo hello > f; xz -k f; ls
echo hello > f; xz -k f; ls
#| f
#| f.xz

#### echo hello | xz | xz -d
echo hello | xz | xz -d
#| hello

#### echo hello | xz -c | unxz -c
echo hello | xz -c | unxz -c
#| hello

#### echo hello > f; xz f; xzcat f.xz
echo hello > f; xz f; xzcat f.xz
#| hello

#### echo hello > f; xz -c f > g.xz; xz -dc g.xz; ls
echo hello > f; xz -c f > g.xz; xz -dc g.xz; ls
#| hello
#| f
#| g.xz

#### echo a | xz > x.xz; echo b | xz >> x.xz; xzcat x.xz
echo a | xz > x.xz; echo b | xz >> x.xz; xzcat x.xz
#| a
#| b

#### xz nofile
xz nofile
#? 1

#### echo x > f; xz -k f; xz f 2>/dev/null; echo $?
echo x > f; xz -k f; xz f 2>/dev/null; echo $?
#| 1

#### echo x > f; xz -k f; xz f
echo x > f; xz -k f; xz f
#? 1

#### echo x > f; xz -k f; xz -f f; echo $?; ls
echo x > f; xz -k f; xz -f f; echo $?; ls
#| 0
#| f.xz

#### echo x > f.xz; xz f.xz 2>/dev/null; echo $?
echo x > f.xz; xz f.xz 2>/dev/null; echo $?
#| 2

#### echo x > f.xz; xz -d f.xz 2>/dev/null; echo $?; ls
echo x > f.xz; xz -d f.xz 2>/dev/null; echo $?; ls
#| 1
#| f.xz

#### echo junk | xz -dc 2>/dev/null; echo $?
echo junk | xz -dc 2>/dev/null; echo $?
#| 1

#### echo junk | xz -dc
echo junk | xz -dc
#? 1

#### echo hi > f; xz f; xz -t f.xz; echo $?
echo hi > f; xz f; xz -t f.xz; echo $?
#| 0

#### seq 1 5000 | xz -9 | xz -d | tail -1
seq 1 5000 | xz -9 | xz -d | tail -1
#| 5000

#### seq 1 5000 | xz -1 > f; test $(wc -c < f) -lt 12000 && echo small
seq 1 5000 | xz -1 > f; test $(wc -c < f) -lt 12000 && echo small
#| small

#### printf '' | xz | xz -d | wc -c
printf '' | xz | xz -d | wc -c
#| 0

#### mkdir d; xz d 2>/dev/null; echo $?
mkdir d; xz d 2>/dev/null; echo $?
#| 2

#### echo x > f; xz -d f 2>/dev/null; echo $?; ls
echo x > f; xz -d f 2>/dev/null; echo $?; ls
#| 1
#| f

#### xz --foo < /dev/null > /dev/null 2>&1; echo $?
xz --foo < /dev/null > /dev/null 2>&1; echo $?
#| 1

#### echo hello > f; tar -cJf a.tar.xz f; xzcat a.tar.xz | tar -tf -
echo hello > f; tar -cJf a.tar.xz f; xzcat a.tar.xz | tar -tf -
#| f
