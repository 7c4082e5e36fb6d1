#### dc -e '1 2+p'
dc -e '1 2+p'
#| 3

#### dc -e '5 3-p'
dc -e '5 3-p'
#| 2

#### dc -e '6 7*p'
dc -e '6 7*p'
#| 42

#### dc -e '10 3/p'
dc -e '10 3/p'
#| 3

#### dc -e '10 3%p'
dc -e '10 3%p'
#| 1

#### dc -e '2 10^p'
dc -e '2 10^p'
#| 1024

#### dc -e '2k 10 3/p'
dc -e '2k 10 3/p'
#| 3.33

#### dc -e '16v p'
dc -e '16v p'
#| 4

#### dc -e '2k 2v p'
dc -e '2k 2v p'
#| 1.41

#### dc -e '5 3~f'
dc -e '5 3~f'
#| 2
#| 1

#### dc -e '3 4 5 2|p'
dc -e '3 4 5 2|p'
#| 0

#### dc -e '_5 3+p'
dc -e '_5 3+p'
#| -2

#### dc -e '1 2 3f'
dc -e '1 2 3f'
#| 3
#| 2
#| 1

#### dc -e '1 2 3 c f'
dc -e '1 2 3 c f'

#### dc -e '5dp*p'
dc -e '5dp*p'
#| 5
#| 25

#### dc -e '1 2r f'
dc -e '1 2r f'
#| 1
#| 2

#### dc -e '5sa la p'
dc -e '5sa la p'
#| 5

#### dc -e '5Sa 6Sa La p La p'
dc -e '5Sa 6Sa La p La p'
#| 6
#| 5

#### dc -e '[hello]p'
dc -e '[hello]p'
#| hello

#### dc -e '[5 6+p]x'
dc -e '[5 6+p]x'
#| 11

#### dc -e '[hi]n [there]p'
dc -e '[hi]n [there]p'
#| hithere

#### dc -e '65P'
dc -e '65P'
#|- A

#### dc -e '5 6n'
dc -e '5 6n'
#|- 6

#### dc -e '16o 255p'
dc -e '16o 255p'
#| FF

#### dc -e '2i 1011p'
dc -e '2i 1011p'
#| 11

#### dc -e '8o 64p'
dc -e '8o 64p'
#| 100

#### dc -e '10k 1 3/p'
dc -e '10k 1 3/p'
#| .3333333333

#### dc -e '12345Z p'
dc -e '12345Z p'
#| 5

#### dc -e '1.2345X p'
dc -e '1.2345X p'
#| 4

#### dc -e '1 2 3z p'
dc -e '1 2 3z p'
#| 3

#### dc -e 'IpOpKp'
dc -e 'IpOpKp'
#| 10
#| 10
#| 0

#### dc -e '1 2>a'
dc -e '1 2>a'

#### dc -e '[[eq]p]sa 2 2=a'
dc -e '[[eq]p]sa 2 2=a'
#| eq

#### dc -e '[[ne]p]sa 2 3!=a'
dc -e '[[ne]p]sa 2 3!=a'
#| ne

#### dc -e '[lap1-dsa0<x]sx 3sa lxx'
dc -e '[lap1-dsa0<x]sx 3sa lxx'
#| 3
#| 2
#| 1

#### dc -e '[d1-d1<f*]sf 5lfx p'
dc -e '[d1-d1<f*]sf 5lfx p'
#| 120

#### dc -e '99 0:a 88 1:a 0;ap 1;ap'
dc -e '99 0:a 88 1:a 0;ap 1;ap'
#| 99
#| 88

#### dc -e '72a p 101a p'
dc -e '72a p 101a p'
#| H
#| e

#### dc -e '[abc]Zp'
dc -e '[abc]Zp'
#| 3

#### dc -e '2 100^p'
dc -e '2 100^p'
#| 1267650600228229401496703205376

#### dc -e '2 500^p'
dc -e '2 500^p'
#| 327339060789614187001318969682759915221664204604306478948329136809613\
#| 379640467455488327009232590415715088668412756007100921725654588539305\
#| 3328527589376

#### dc -e '.5p'
dc -e '.5p'
#| .5

#### dc -e '_.5p'
dc -e '_.5p'
#| -.5

#### dc -e '5 _3*p'
dc -e '5 _3*p'
#| -15

#### dc -e '3 2 1 3R f'
dc -e '3 2 1 3R f'
#| 3
#| 1
#| 2

#### dc -e '0 3^p'
dc -e '0 3^p'
#| 0

#### dc -e '1 2 3 4 5 +++ +p'
dc -e '1 2 3 4 5 +++ +p'
#| 15

#### dc -e '[1p]x[2p]x'
dc -e '[1p]x[2p]x'
#| 1
#| 2

#### dc -e '1 p 2 p # comment'
dc -e '1 p 2 p # comment'
#| 1
#| 2

#### dc -e 'FFp'
dc -e 'FFp'
#| 165

#### dc -e '16i FFp'
dc -e '16i FFp'
#| 255

#### dc -e '1.5 2.25*p'
dc -e '1.5 2.25*p'
#| 3.37

#### dc -e '10 4 2k/p'
dc -e '10 4 2k/p'
#| 2.50

#### dc -e '1 0/'
dc -e '1 0/'

#### dc -e 'p'
dc -e 'p'

#### dc -e '[2Q3p]x 4p'
dc -e '[2Q3p]x 4p'

#### dc -e '[[1p q 2p]x 3p]x 4p'
dc -e '[[1p q 2p]x 3p]x 4p'
#| 1
#| 4

#### echo '5 5*p' | dc
echo '5 5*p' | dc
#| 25

#### printf '1 2+p\n3 4*p\n' | dc
printf '1 2+p\n3 4*p\n' | dc
#| 3
#| 12

#### echo '2 3+p' > f.dc; dc f.dc
echo '2 3+p' > f.dc; dc f.dc
#| 5

#### echo '2 3+p' > f.dc; dc -f f.dc -e '9p'
echo '2 3+p' > f.dc; dc -f f.dc -e '9p'
#| 5
#| 9

#### dc -e '1 0/' 2>/dev/null; echo $?
dc -e '1 0/' 2>/dev/null; echo $?
#| 0

#### dc -e '1 0/'
dc -e '1 0/'

#### dc -e 'p'
dc -e 'p'

#### dc -e '+' 2>/dev/null; echo $?
dc -e '+' 2>/dev/null; echo $?
#| 0

#### dc nofile
dc nofile

#### dc -e '2 1000^p' | wc -l
dc -e '2 1000^p' | wc -l
#| 5

#### dc -e '2 400^p' | head -1
dc -e '2 400^p' | head -1
#| 258224987808690858965591917200301187432970579282922351283065935654064\

#### dc <<< '7 8 * p'
dc <<< '7 8 * p'
#| 56

#### dc --expression='4 4*p'
dc --expression='4 4*p'
#| 16
