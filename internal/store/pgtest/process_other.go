//go:build !linux

package pgtest

import "syscall"

// unprivileged: elsewhere the tests are not run as root.
func unprivileged() (*syscall.SysProcAttr, int, error) { return nil, -1, nil }
