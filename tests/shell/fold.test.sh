#### printf 'hello wonderful world\nab\n' | fold -w 5
printf 'hello wonderful world\nab\n' | fold -w 5
#| hello
#|  wond
#| erful
#|  worl
#| d
#| ab

#### printf 'hello wonderful world\nab\n' | fold -w5
printf 'hello wonderful world\nab\n' | fold -w5
#| hello
#|  wond
#| erful
#|  worl
#| d
#| ab

#### printf 'hello wonderful world\nab\n' | fold -sw5
printf 'hello wonderful world\nab\n' | fold -sw5
#| hello
#|  
#| wonde
#| rful 
#| world
#| ab

#### printf 'hello wonderful world\nab\n' | fold -b -w3
printf 'hello wonderful world\nab\n' | fold -b -w3
#| hel
#| lo 
#| won
#| der
#| ful
#|  wo
#| rld
#| ab

#### printf 'hello wonderful world\nab\n' | fold -5
printf 'hello wonderful world\nab\n' | fold -5
#| hello
#|  wond
#| erful
#|  worl
#| d
#| ab

#### printf 'hello wonderful world\nab\n' | fold -w 100
printf 'hello wonderful world\nab\n' | fold -w 100
#| hello wonderful world
#| ab

#### printf 'hello wonderful world\nab\n' | fold -s -w 10
printf 'hello wonderful world\nab\n' | fold -s -w 10
#| hello 
#| wonderful 
#| world
#| ab

#### printf 'hello wonderful world\nab\n' | fold -w 1
printf 'hello wonderful world\nab\n' | fold -w 1
#| h
#| e
#| l
#| l
#| o
#|  
#| w
#| o
#| n
#| d
#| e
#| r
#| f
#| u
#| l
#|  
#| w
#| o
#| r
#| l
#| d
#| a
#| b

