// Package cases feeds a running sluice the snapshots that writers make when something goes wrong for them, as people have
// reported it of real engines, and sees what is found, and that nothing is found of healthy ones. It imports e2e/product
// and internal/icebergtest.
package cases
