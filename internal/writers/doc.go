// Package writers says who made a commit and how far that one is, and when its next commit is due. It is pure: it imports
// models alone.
package writers
