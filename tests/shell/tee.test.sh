#### echo a | tee f; cat f
echo a | tee f; cat f
#| a
#| a

#### echo a | tee f g > /dev/null; cat f g
echo a | tee f g > /dev/null; cat f g
#| a
#| a

#### echo a > f; echo b | tee -a f; cat f
echo a > f; echo b | tee -a f; cat f
#| b
#| a
#| b

#### echo a | tee --append f > /dev/null; cat f
echo a | tee --append f > /dev/null; cat f
#| a

#### echo a | tee /dev/null
echo a | tee /dev/null
#| a

#### echo a | tee none/f 2>&1 | sort; echo ${PIPESTATUS[1]}
echo a | tee none/f 2>&1 | sort; echo ${PIPESTATUS[1]}
#| a
#| tee: none/f: No such file or directory
#| 1

#### mkdir d; echo a | tee d 2>&1 | sort; echo ${PIPESTATUS[1]}
mkdir d; echo a | tee d 2>&1 | sort; echo ${PIPESTATUS[1]}
#| a
#| tee: d: Is a directory
#| 1

#### echo a | tee -i f
echo a | tee -i f
#| a

#### echo a | tee -q 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[1]}
echo a | tee -q 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[1]}
#| tee: invalid option -- 'q'
#| Try 'tee --help' for more information.
#| 1

#### seq 100000 | tee f | tail -1; tail -1 f
seq 100000 | tee f | tail -1; tail -1 f
#| 100000
#| 100000

#### seq 100000 | tee f | head -1; true
seq 100000 | tee f | head -1; true
#| 1

#### echo a | tee -p f
echo a | tee -p f
#| a

#### echo a | tee -
echo a | tee -
#| a

#### echo a | tee >(tr a b > g); sleep 0.1; cat g
echo a | tee >(tr a b > g); sleep 0.1; cat g
#| a
#| b
