#### touch a; ls
touch a; ls
#| a

#### touch
touch
#? 1

#### touch -c a; ls
touch -c a; ls

#### touch -d 2020-01-02 a; date -u -r a +%F
touch -d 2020-01-02 a; date -u -r a +%F
#| 2020-01-02

#### touch -t 202001020304 a; date -r a +%FT%T
touch -t 202001020304 a; date -r a +%FT%T
#| 2020-01-02T03:04:00

#### touch a; touch -r a b; ls
touch a; touch -r a b; ls
#| a
#| b

#### touch missing/a; echo $?
touch missing/a; echo $?
#| 1

#### touch -d '@86400' a; stat -c %Y a
touch -d '@86400' a; stat -c %Y a
#| 86400

#### touch -d garbage a; echo $?
touch -d garbage a; echo $?
#| 1

#### touch -m -d 2021-01-01 a; stat -c %y a | cut -c1-10
touch -m -d 2021-01-01 a; stat -c %y a | cut -c1-10
#| 2021-01-01

