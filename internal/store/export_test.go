package store

// RightsQueries are those by which PostgreSQL reads rights.
func RightsQueries() (grants, namespaces string) { return heldGrantsLateral, ancestorsLateral }
