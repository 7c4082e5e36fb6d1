#### echo -n a; echo b
echo -n a; echo b
#| ab

#### echo -e "a\tb\x41"
echo -e "a\tb\x41"
#| a	bA

#### echo -E "a\n"
echo -E "a\n"
#| a\n

#### echo -ne "x\n"
echo -ne "x\n"
#| x

#### echo -- a
echo -- a
#| -- a

#### echo -x
echo -x
#| -x

#### echo
echo
#|

#### echo "a\nb"
echo "a\nb"
#| a\nb

#### echo -e "a\cb"; echo c
echo -e "a\cb"; echo c
#| ac

#### echo -e "\0101"
echo -e "\0101"
#| A
