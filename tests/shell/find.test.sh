#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d  | so
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d  | sort
#| d
#| d/.h
#| d/a.txt
#| d/b.md
#| d/l
#| d/sub
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name "*.txt" | sort
#| d/a.txt
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -inam
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -iname "A*" | sort
#| d/a.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -type
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -type f | sort
#| d/.h
#| d/a.txt
#| d/b.md
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -type
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -type d | sort
#| d
#| d/sub

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -type
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -type l | sort
#| d/l

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -maxd
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -maxdepth 1 | sort
#| d
#| d/.h
#| d/a.txt
#| d/b.md
#| d/l
#| d/sub

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -mind
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -mindepth 2 | sort
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -path
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -path "*sub*" | sort
#| d/sub
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -not 
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -not -name "*.txt" | sort
#| d
#| d/.h
#| d/b.md
#| d/l
#| d/sub

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d ! -ty
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d ! -type d | sort
#| d/.h
#| d/a.txt
#| d/b.md
#| d/l
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name a.txt -o -name b.md | sort
#| d/a.txt
#| d/b.md

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d \( -n
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d \( -name a.txt -o -name b.md \) -type f | sort
#| d/a.txt
#| d/b.md

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -empt
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -empty | sort
#| d/.h
#| d/b.md
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -size
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -size +4c | sort
#| d
#| d/a.txt
#| d/l
#| d/sub

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -size
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -size -1k | sort
#| d/.h
#| d/b.md
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -size
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -size 5c | sort
#| d/a.txt
#| d/l

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -size
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -size 0 | sort
#| d/.h
#| d/b.md
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name "*.txt" -print0 | tr "\0" "\n" | sort
#| d/a.txt
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -exec
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -exec echo {} \; | sort
#| d
#| d/.h
#| d/a.txt
#| d/b.md
#| d/l
#| d/sub
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name a.txt -exec cat {} \; | sort
#| 12345

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -prin
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -printf "%p %y %d\n" | sort
#| d d 0
#| d/.h f 1
#| d/a.txt f 1
#| d/b.md f 1
#| d/l l 1
#| d/sub d 1
#| d/sub/c.txt f 2

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -prin
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -printf "%P\n" | sort
#|
#| .h
#| a.txt
#| b.md
#| l
#| sub
#| sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name sub -prune -o -print | sort
#| d
#| d/.h
#| d/a.txt
#| d/b.md
#| d/l

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -rege
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -regex ".*\.txt" | sort
#| d/a.txt
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -perm
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -perm 644 -name x | sort

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -newe
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; touch -d 2020-01-01 d/a.txt; find d -newer d/a.txt | sort
#| d
#| d/.h
#| d/b.md
#| d/l
#| d/sub
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name a.txt -delete | sort

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -type
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -type f -name "*.md" | sort
#| d/b.md

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -ireg
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -iregex ".*A\.TXT" | sort
#| d/a.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -true
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -true -name a.txt | sort
#| d/a.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -fals
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -false | sort

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -link
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -links 1 -type f | sort
#| d/.h
#| d/a.txt
#| d/b.md
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -path
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -path d/sub -prune -o -type f -print | sort
#| d/.h
#| d/a.txt
#| d/b.md

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -mtim
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -mtime -1 -type f | sort
#| d/.h
#| d/a.txt
#| d/b.md
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -mtim
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -mtime +1 | sort

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -mmin
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -mmin -60 -type d | sort
#| d
#| d/sub

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name "[ab]*" | sort
#| d/a.txt
#| d/b.md

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name "?.txt" | sort
#| d/a.txt
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -maxd
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -maxdepth 0 | sort
#| d

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -prin
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -printf "%h\n" | sort
#| .
#| d
#| d
#| d
#| d
#| d
#| d/sub

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -type
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -type f,l | sort
#| d/.h
#| d/a.txt
#| d/b.md
#| d/l
#| d/sub/c.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -lnam
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -lname "a*" | sort
#| d/l

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -same
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -samefile d/a.txt | sort
#| d/a.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -ls |
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -ls | wc -l
#| 7

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -read
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -readable -type d | sort
#| d
#| d/sub

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -inum
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -inum 0 | sort

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name a.txt -execdir echo {} \; | sort
#| ./a.txt

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -bad 
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -bad | sort

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -name | sort

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -size
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -size x | sort

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -maxd
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -maxdepth x | sort

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -type
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -type q | sort

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -exec
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -exec echo | sort

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d \( | 
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d \( | sort

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -prin
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -printf "%m\n" -name zz | sort
#| 644
#| 644
#| 644
#| 644
#| 755
#| 755
#| 777

#### mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -a | 
mkdir -p d/sub; printf 12345 > d/a.txt; touch d/b.md d/sub/c.txt d/.h; ln -s a.txt d/l; find d -a | sort

#### find missing; echo $?
find missing; echo $?
#| 1

#### mkdir a b; touch a/1 b/2; find a b -type f
mkdir a b; touch a/1 b/2; find a b -type f
#| a/1
#| b/2

#### mkdir d; cd d; touch x; find
mkdir d; cd d; touch x; find
#| .
#| ./x

#### mkdir d; cd d; touch x; find .
mkdir d; cd d; touch x; find .
#| .
#| ./x

#### find . -maxdepth 0 -type d
find . -maxdepth 0 -type d
#| .

#### mkdir d; find d/ -maxdepth 0
mkdir d; find d/ -maxdepth 0
#| d/

#### touch -d 2020-01-01 a b; find . -type f -newer a | wc -l
touch -d 2020-01-01 a b; find . -type f -newer a | wc -l
#| 0

#### mkdir -p a/b/c; find a -depth
mkdir -p a/b/c; find a -depth
#| a/b/c
#| a/b
#| a

#### touch f; find f -name f
touch f; find f -name f
#| f

#### mkdir d; ln -s d l; touch d/x; find -L l
mkdir d; ln -s d l; touch d/x; find -L l
#| l
#| l/x

#### mkdir d; ln -s d l; touch d/x; find l
mkdir d; ln -s d l; touch d/x; find l
#| l

