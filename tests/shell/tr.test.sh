#### printf 'hello  world 123\n' | tr a-z A-Z
printf 'hello  world 123\n' | tr a-z A-Z
#| HELLO  WORLD 123

#### printf 'hello  world 123\n' | tr '[:lower:]' '[:upper:]'
printf 'hello  world 123\n' | tr '[:lower:]' '[:upper:]'
#| HELLO  WORLD 123

#### printf 'hello  world 123\n' | tr -d l
printf 'hello  world 123\n' | tr -d l
#| heo  word 123

#### printf 'hello  world 123\n' | tr -s l
printf 'hello  world 123\n' | tr -s l
#| helo  world 123

#### printf 'hello  world 123\n' | tr -d '[:space:]'
printf 'hello  world 123\n' | tr -d '[:space:]'
#|- helloworld123

#### printf 'hello  world 123\n' | tr -c -d 'a-z\n'
printf 'hello  world 123\n' | tr -c -d 'a-z\n'
#| helloworld

#### printf 'hello  world 123\n' | tr -cd 0-9
printf 'hello  world 123\n' | tr -cd 0-9
#|- 123

#### printf 'hello  world 123\n' | tr -s ' '
printf 'hello  world 123\n' | tr -s ' '
#| hello world 123

#### printf 'hello  world 123\n' | tr abc x
printf 'hello  world 123\n' | tr abc x
#| hello  world 123

#### printf 'hello  world 123\n' | tr 'a-c' '1-3'
printf 'hello  world 123\n' | tr 'a-c' '1-3'
#| hello  world 123

#### printf 'hello  world 123\n' | tr -d 'a-e'
printf 'hello  world 123\n' | tr -d 'a-e'
#| hllo  worl 123

#### printf 'hello  world 123\n' | tr '\n' ' '
printf 'hello  world 123\n' | tr '\n' ' '
#|- hello  world 123 

#### printf 'hello  world 123\n' | tr '[:digit:]' x
printf 'hello  world 123\n' | tr '[:digit:]' x
#| hello  world xxx

#### printf 'hello  world 123\n' | tr -t abc 12
printf 'hello  world 123\n' | tr -t abc 12
#| hello  world 123

#### printf 'hello  world 123\n' | tr lo 01
printf 'hello  world 123\n' | tr lo 01
#| he001  w1r0d 123

#### printf 'hello  world 123\n' | tr -ds l o
printf 'hello  world 123\n' | tr -ds l o
#| heo  word 123

#### printf 'hello  world 123\n' | tr el '[x*]'
printf 'hello  world 123\n' | tr el '[x*]'
#| hxxxo  worxd 123

#### printf 'hello  world 123\n' | tr -C -s 'a-z' '-'
printf 'hello  world 123\n' | tr -C -s 'a-z' '-'
#|- hello-world-

#### printf 'hello  world 123\n' | tr '\154' L
printf 'hello  world 123\n' | tr '\154' L
#| heLLo  worLd 123

#### printf 'hello  world 123\n' | tr a-c
printf 'hello  world 123\n' | tr a-c
#? 1

#### printf 'hello  world 123\n' | tr 'z-a' x
printf 'hello  world 123\n' | tr 'z-a' x
#? 1

#### printf 'hello  world 123\n' | tr 
printf 'hello  world 123\n' | tr 
#? 1

