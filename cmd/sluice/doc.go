// Command sluice is the whole product: the servers (serve, api, worker), what
// keeps them (migrate, doctor, root) and the clients of their APIs.
// One file per command. It may import everything, and is the only place where
// parts are wired together.
package main
