#### mkdir a; ls
mkdir a; ls
#| a

#### mkdir a; mkdir a; echo $?
mkdir a; mkdir a; echo $?
#| 1

#### mkdir -p a/b/c; ls -R a
mkdir -p a/b/c; ls -R a
#| a:
#| b
#|
#| a/b:
#| c
#|
#| a/b/c:

#### mkdir a/b; echo $?
mkdir a/b; echo $?
#| 1

#### mkdir -m 700 a; stat -c %a a
mkdir -m 700 a; stat -c %a a
#| 700

#### mkdir -v a
mkdir -v a
#| mkdir: created directory 'a'

#### mkdir
mkdir
#? 1

#### mkdir -pv a/b
mkdir -pv a/b
#| mkdir: created directory 'a'
#| mkdir: created directory 'a/b'

#### touch f; mkdir f; echo $?
touch f; mkdir f; echo $?
#| 1

#### mkdir -p a; mkdir -p a; echo $?
mkdir -p a; mkdir -p a; echo $?
#| 0

#### touch f; mkdir -p f/x; echo $?
touch f; mkdir -p f/x; echo $?
#| 1

#### mkdir -m u=rwx,go= a; stat -c %a a
mkdir -m u=rwx,go= a; stat -c %a a
#| 700

#### rmdir missing; echo $?
rmdir missing; echo $?
#| 1

#### mkdir a; rmdir a; ls
mkdir a; rmdir a; ls

#### mkdir -p a/b; rmdir a; echo $?
mkdir -p a/b; rmdir a; echo $?
#| 1

#### mkdir -p a/b; rmdir -p a/b; ls
mkdir -p a/b; rmdir -p a/b; ls

#### mkdir a; rmdir -v a
mkdir a; rmdir -v a
#| rmdir: removing directory, 'a'

#### touch f; rmdir f; echo $?
touch f; rmdir f; echo $?
#| 1

