#### timeout 0.2 sleep 10; echo $?
timeout 0.2 sleep 10; echo $?
#| 124

#### timeout 0.2 bash -c 'while :; do :; done'; echo $?
timeout 0.2 bash -c 'while :; do :; done'; echo $?
#| 124

#### timeout 0.2 bash -c 'sleep 10; echo no'; echo $?
timeout 0.2 bash -c 'sleep 10; echo no'; echo $?
#| 124

#### timeout 0.2 bash -c 'bash -c "sleep 10"; echo no'; echo $?
timeout 0.2 bash -c 'bash -c "sleep 10"; echo no'; echo $?
#| 124

#### timeout 20 bash -c 'exit 3'; echo $?
timeout 20 bash -c 'exit 3'; echo $?
#| 3

#### timeout 20 echo hi
timeout 20 echo hi
#| hi

#### timeout -s KILL 0.2 sleep 10; echo $?
timeout -s KILL 0.2 sleep 10; echo $?
#| 137

#### timeout -s INT 0.2 sleep 10; echo $?
timeout -s INT 0.2 sleep 10; echo $?
#| 124

#### timeout --preserve-status 0.2 sleep 10; echo $?
timeout --preserve-status 0.2 sleep 10; echo $?
#| 143

#### timeout -k 0.2 0.2 bash -c 'trap "" TERM; while :; do :; done'; echo $?
timeout -k 0.2 0.2 bash -c 'trap "" TERM; while :; do :; done'; echo $?
#| 137

#### timeout 0.2 bash -c 'trap "echo bye; exit 7" TERM; while :; do :; done'; echo $?
timeout 0.2 bash -c 'trap "echo bye; exit 7" TERM; while :; do :; done'; echo $?
#| bye
#| 124

#### timeout 0 echo none
timeout 0 echo none
#| none

#### timeout 20s true; echo $?
timeout 20s true; echo $?
#| 0

#### timeout 0.01m true; echo $?
timeout 0.01m true; echo $?
#| 0

#### timeout x true 2>/dev/null; echo $?
timeout x true 2>/dev/null; echo $?
#| 125

#### timeout 5 2>/dev/null; echo $?
timeout 5 2>/dev/null; echo $?
#| 125

#### timeout -s NOSUCH 5 true 2>/dev/null; echo $?
timeout -s NOSUCH 5 true 2>/dev/null; echo $?
#| 125

#### timeout 5 nosuchcommand 2>/dev/null; echo $?
timeout 5 nosuchcommand 2>/dev/null; echo $?
#| 127

#### timeout 0.2 yes > /dev/null; echo $?
timeout 0.2 yes > /dev/null; echo $?
#| 124

#### seq 1 6 | xargs -P 2 -n 2 echo | sort
seq 1 6 | xargs -P 2 -n 2 echo | sort
#| 1 2
#| 3 4
#| 5 6

#### seq 1 4 | xargs -P 0 -n 1 echo | sort
seq 1 4 | xargs -P 0 -n 1 echo | sort
#| 1
#| 2
#| 3
#| 4

#### seq 1 3 | xargs -P 3 -I{} sh -c 'echo n{}' | sort
seq 1 3 | xargs -P 3 -I{} sh -c 'echo n{}' | sort
#| n1
#| n2
#| n3

#### seq 1 3 | xargs -P 2 -n 1 false; echo $?
seq 1 3 | xargs -P 2 -n 1 false; echo $?
#| 123

#### seq 1 3 | xargs -P 2 -n 1 nosuchcommand 2>/dev/null; echo $?
seq 1 3 | xargs -P 2 -n 1 nosuchcommand 2>/dev/null; echo $?
#| 127

#### seq 1 3 | xargs -P x echo 2>/dev/null; echo $?
seq 1 3 | xargs -P x echo 2>/dev/null; echo $?
#| 1

#### seq 1 20 | xargs -P 4 -n 1 sh -c 'exit 0' ; echo $?
seq 1 20 | xargs -P 4 -n 1 sh -c 'exit 0' ; echo $?
#| 0

#### printf '1\n0\n' | xargs -P 2 -n 1 sleep; echo done
printf '1\n0\n' | xargs -P 2 -n 1 sleep; echo done
#| done

#### nice and nohup run their command
nice echo a; nice -n 5 echo b; nohup echo c 2>/dev/null < /dev/null; nice sh -c 'exit 4'; echo $?
#| a
#| b
#| c
#| 4

#### nice and nohup without a command, or with a bad adjustment
nohup 2>/dev/null; echo $?; nice -n x true 2>/dev/null; echo $?; nohup nosuchcommand 2>/dev/null < /dev/null; echo $?
#| 125
#| 125
#| 127

#### time as a program
#~ the machine may have no such program
command time -f '%x %C' -o t sh -c 'exit 3'; echo $?; cat t; env time -p true 2>&1 | cut -d ' ' -f 1
#| 3
#| Command exited with non-zero status 3
#| 3 sh -c exit 3
#| real
#| user
#| sys
