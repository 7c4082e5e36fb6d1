#### HOME=/h; echo ~ ~/x "~"
HOME=/h; echo ~ ~/x "~"
#| /h /h/x ~

#### HOME=/h; x=~/a:~/b; echo $x
HOME=/h; x=~/a:~/b; echo $x
#| /h/a:/h/b

#### cd /; cd /tmp; echo ~+ ~-
cd /; cd /tmp; echo ~+ ~-
#| /tmp /

#### echo a~
echo a~
#| a~
