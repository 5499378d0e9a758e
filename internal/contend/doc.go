// Package contend is for those who want the same thing: locks by key, so that they take it one after the other, and the
// wait between two attempts at what was lost to others.
//
// It imports nothing of ours.
package contend
