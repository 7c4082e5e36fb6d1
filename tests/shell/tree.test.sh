#### mkdir -p a/b c; touch a/f a/b/g h; tree
mkdir -p a/b c; touch a/f a/b/g h; tree
#| .
#| ├── a
#| │   ├── b
#| │   │   └── g
#| │   └── f
#| ├── c
#| └── h
#|
#| 4 directories, 3 files

#### mkdir -p a/b c; touch a/f a/b/g h; tree -d
mkdir -p a/b c; touch a/f a/b/g h; tree -d
#| .
#| ├── a
#| │   └── b
#| └── c
#|
#| 4 directories

#### mkdir -p a/b/c/d; tree -L 2
mkdir -p a/b/c/d; tree -L 2
#| .
#| └── a
#|     └── b
#|
#| 3 directories, 0 files

#### mkdir -p a; touch a/.hid a/vis; tree -a
mkdir -p a; touch a/.hid a/vis; tree -a
#| .
#| └── a
#|     ├── .hid
#|     └── vis
#|
#| 2 directories, 2 files

#### mkdir -p a; touch a/x.txt a/y.log; tree -P '*.txt'
mkdir -p a; touch a/x.txt a/y.log; tree -P '*.txt'
#| .
#| └── a
#|     └── x.txt
#|
#| 2 directories, 1 file

#### mkdir -p a; touch a/x.txt a/y.log; tree -I '*.log'
mkdir -p a; touch a/x.txt a/y.log; tree -I '*.log'
#| .
#| └── a
#|     └── x.txt
#|
#| 2 directories, 1 file

#### mkdir -p a/b; touch a/b/c; tree -f
mkdir -p a/b; touch a/b/c; tree -f
#| .
#| └── ./a
#|     └── ./a/b
#|         └── ./a/b/c
#|
#| 3 directories, 1 file

#### mkdir -p a/b; touch a/b/c; tree -i
mkdir -p a/b; touch a/b/c; tree -i
#| .
#| a
#| b
#| c
#|
#| 3 directories, 1 file

#### mkdir -p a/b; touch a/b/c; tree --noreport
mkdir -p a/b; touch a/b/c; tree --noreport
#| .
#| └── a
#|     └── b
#|         └── c

#### mkdir -p a/b; touch a/b/c d; tree --dirsfirst
mkdir -p a/b; touch a/b/c d; tree --dirsfirst
#| .
#| ├── a
#| │   └── b
#| │       └── c
#| └── d
#|
#| 3 directories, 2 files

#### mkdir -p a; touch a/c; ln -s c a/l; tree a
mkdir -p a; touch a/c; ln -s c a/l; tree a
#| a
#| ├── c
#| └── l -> c
#|
#| 1 directory, 2 files

#### mkdir -p a/b; touch a/f; chmod +x a/f; mkfifo a/p; ln -s f a/l; tree -F a
mkdir -p a/b; touch a/f; chmod +x a/f; mkfifo a/p; ln -s f a/l; tree -F a
#| a/
#| ├── b/
#| ├── f*
#| ├── l -> f*
#| └── p|
#|
#| 2 directories, 3 files

#### printf 12345 > f; tree -s | tail -3
printf 12345 > f; tree -s | tail -3
#| └── [          5]  f
#|
#| 1 directory, 1 file

#### mkdir a b; touch a/x b/y; tree a b
mkdir a b; touch a/x b/y; tree a b
#| a
#| └── x
#| b
#| └── y
#|
#| 2 directories, 2 files

#### tree missing; echo $?
tree missing; echo $?
#| missing  [error opening dir]
#|
#| 0 directories, 0 files
#| 2

#### mkdir a; tree a
mkdir a; tree a
#| a
#|
#| 0 directories, 0 files

#### touch f; tree f; echo $?
touch f; tree f; echo $?
#| f  [error opening dir]
#|
#| 0 directories, 1 file
#| 0

#### tree -L 0 2>&1; echo $?
tree -L 0 2>&1; echo $?
#| tree: Invalid level, must be greater than 0.
#| 1

#### mkdir a; tree -L
mkdir a; tree -L
#? 1

#### mkdir -p a; touch a/b a/a a/C; tree -r a
mkdir -p a; touch a/b a/a a/C; tree -r a
#| a
#| ├── b
#| ├── a
#| └── C
#|
#| 1 directory, 3 files

