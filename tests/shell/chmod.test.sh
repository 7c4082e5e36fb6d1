#### touch f; chmod 644 f; chmod 644 f; stat -c %a f
touch f; chmod 644 f; chmod 644 f; stat -c %a f
#| 644

#### touch f; chmod 644 f; chmod 755 f; stat -c %a f
touch f; chmod 644 f; chmod 755 f; stat -c %a f
#| 755

#### touch f; chmod 644 f; chmod u+x f; stat -c %a f
touch f; chmod 644 f; chmod u+x f; stat -c %a f
#| 744

#### touch f; chmod 644 f; chmod go-w f; stat -c %a f
touch f; chmod 644 f; chmod go-w f; stat -c %a f
#| 644

#### touch f; chmod 644 f; chmod a=r f; stat -c %a f
touch f; chmod 644 f; chmod a=r f; stat -c %a f
#| 444

#### touch f; chmod 644 f; chmod +x f; stat -c %a f
touch f; chmod 644 f; chmod +x f; stat -c %a f
#| 755

#### touch f; chmod 644 f; chmod u=rw,go=r f; stat -c %a f
touch f; chmod 644 f; chmod u=rw,go=r f; stat -c %a f
#| 644

#### touch f; chmod 644 f; chmod -w f; stat -c %a f
touch f; chmod 644 f; chmod -w f; stat -c %a f
#| 444

#### touch f; chmod 644 f; chmod o+t f; stat -c %a f
touch f; chmod 644 f; chmod o+t f; stat -c %a f
#| 1644

#### touch f; chmod 644 f; chmod 7777 f; stat -c %a f
touch f; chmod 644 f; chmod 7777 f; stat -c %a f
#| 7777

#### touch f; chmod 644 f; chmod u+s f; stat -c %a f
touch f; chmod 644 f; chmod u+s f; stat -c %a f
#| 4644

#### touch f; chmod 644 f; chmod g=u f; stat -c %a f
touch f; chmod 644 f; chmod g=u f; stat -c %a f
#| 664

#### touch f; chmod 644 f; chmod a+X f; stat -c %a f
touch f; chmod 644 f; chmod a+X f; stat -c %a f
#| 644

#### touch f; chmod 644 f; chmod = f; stat -c %a f
touch f; chmod 644 f; chmod = f; stat -c %a f
#| 0

#### touch f; chmod 644 f; chmod ugo+rwx f; stat -c %a f
touch f; chmod 644 f; chmod ugo+rwx f; stat -c %a f
#| 777

#### touch f; chmod 644 f; chmod u-x,g+w f; stat -c %a f
touch f; chmod 644 f; chmod u-x,g+w f; stat -c %a f
#| 664

#### touch f; chmod 644 f; chmod 0600 f; stat -c %a f
touch f; chmod 644 f; chmod 0600 f; stat -c %a f
#| 600

#### chmod 644 missing; echo $?
chmod 644 missing; echo $?
#| 1

#### chmod
chmod
#? 1

#### chmod 644
chmod 644
#? 1

#### touch f; chmod zzz f; echo $?
touch f; chmod zzz f; echo $?
#| 1

#### touch f; chmod 644 f; chmod -v 600 f
touch f; chmod 644 f; chmod -v 600 f
#| mode of 'f' changed from 0644 (rw-r--r--) to 0600 (rw-------)

#### touch f; chmod 600 f; chmod -c 644 f
touch f; chmod 600 f; chmod -c 644 f
#| mode of 'f' changed from 0600 (rw-------) to 0644 (rw-r--r--)

#### mkdir -p d; touch d/f; chmod 644 d/f; chmod -R go= d; stat -c %a d d/f
mkdir -p d; touch d/f; chmod 644 d/f; chmod -R go= d; stat -c %a d d/f
#| 700
#| 600

#### touch a b; chmod 640 a; chmod --reference=a b; stat -c %a b
touch a b; chmod 640 a; chmod --reference=a b; stat -c %a b
#| 640

#### touch f; chmod 644 f; chmod -x f; stat -c %a f
touch f; chmod 644 f; chmod -x f; stat -c %a f
#| 644

