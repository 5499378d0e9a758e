package models

// IdentifierKind says what a name in a namespace stands for.
type IdentifierKind string

// The kinds.
const (
	TableIdentifier IdentifierKind = "table"
	ViewIdentifier  IdentifierKind = "view"
)

// Identifier is a name that is taken in a namespace: tables and views share one space of names, so that the row's key
// decides who has a name. It is written in the transaction that creates, renames or drops the entity.
type Identifier struct {
	NamespaceID string `gorm:"primaryKey"`
	Name        string `gorm:"primaryKey"`
	Kind        IdentifierKind
	EntityID    string // id of the table or view row
}
