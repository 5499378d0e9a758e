package product

import "syscall"

// dieWithParent ends the program with the test that started it, however that ends.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
