#### printf 'a\n\nb\n' | nl 
printf 'a\n\nb\n' | nl 
#|      1	a
#|        
#|      2	b

#### printf 'a\n\nb\n' | nl -ba
printf 'a\n\nb\n' | nl -ba
#|      1	a
#|      2	
#|      3	b

#### printf 'a\n\nb\n' | nl -bt
printf 'a\n\nb\n' | nl -bt
#|      1	a
#|        
#|      2	b

#### printf 'a\n\nb\n' | nl -bn
printf 'a\n\nb\n' | nl -bn
#|        a
#|        
#|        b

#### printf 'a\n\nb\n' | nl -n ln
printf 'a\n\nb\n' | nl -n ln
#| 1     	a
#|        
#| 2     	b

#### printf 'a\n\nb\n' | nl -n rz
printf 'a\n\nb\n' | nl -n rz
#| 000001	a
#|        
#| 000002	b

#### printf 'a\n\nb\n' | nl -n rn
printf 'a\n\nb\n' | nl -n rn
#|      1	a
#|        
#|      2	b

#### printf 'a\n\nb\n' | nl -s:
printf 'a\n\nb\n' | nl -s:
#|      1:a
#|        
#|      2:b

#### printf 'a\n\nb\n' | nl -w3
printf 'a\n\nb\n' | nl -w3
#|   1	a
#|     
#|   2	b

#### printf 'a\n\nb\n' | nl -v10
printf 'a\n\nb\n' | nl -v10
#|     10	a
#|        
#|     11	b

#### printf 'a\n\nb\n' | nl -i5
printf 'a\n\nb\n' | nl -i5
#|      1	a
#|        
#|      6	b

#### printf 'a\n\nb\n' | nl -v 5 -i 2
printf 'a\n\nb\n' | nl -v 5 -i 2
#|      5	a
#|        
#|      7	b

#### printf 'a\n\nb\n' | nl -nrz -w3
printf 'a\n\nb\n' | nl -nrz -w3
#| 001	a
#|     
#| 002	b

#### printf 'a\n\nb\n' | nl -s " " -w1
printf 'a\n\nb\n' | nl -s " " -w1
#| 1 a
#|   
#| 2 b

#### printf 'a\n\nb\n' | nl -ba -s. -w2
printf 'a\n\nb\n' | nl -ba -s. -w2
#|  1.a
#|  2.
#|  3.b

#### printf 'a\n\nb\n' | nl -b pb
printf 'a\n\nb\n' | nl -b pb
#|        a
#|        
#|      1	b

