package pgtest

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// unprivileged gives the attributes of the server's processes and their owner, -1 for ours: PostgreSQL refuses to
// run as root, so root runs it as the user postgres.
func unprivileged() (*syscall.SysProcAttr, int, error) {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Geteuid() != 0 {
		return attr, -1, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, 0, fmt.Errorf("root runs PostgreSQL as the user postgres: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, 0, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, 0, err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, int(uid), nil
}
