//go:build !linux

package product

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }
