package azure

import (
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	"github.com/sluice-data/sluice/internal/objects"
)

// permissions says what a SAS of a folder allows.
//
//	Read       r, l  read objects and their properties, list the folder
//	Write      c, w  create objects, write blocks of them
//	Overwrite  c, w  the same
//	Delete     d     delete objects
//
// Azure cannot say "write, but only what is not there yet": c alone creates an object in one request and replaces none,
// but blocks (Blob API) and appended parts (Data Lake API), in which engines write, take w, and w replaces. Nor does it
// part w from setting an object's time of expiry. So a SAS for appends keeps nobody from replacing a file, only from
// deleting one outright.
//
// Never given: m (move), x and y (versions), t (tags), i (immutability), and e, o, p (the access lists of folders).
func permissions(o objects.Opening) string {
	p := sas.BlobPermissions{
		Read: o.Read, List: o.Read,
		Create: o.Write || o.Overwrite, Write: o.Write || o.Overwrite,
		Delete: o.Delete,
	}
	return p.String()
}
