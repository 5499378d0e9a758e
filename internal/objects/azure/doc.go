// Package azure keeps objects in Azure Blob Storage and Data Lake Storage Gen2, and makes keys for engines that open one
// table's folder: shared access signatures (SAS) of a directory, which only accounts with a hierarchical namespace know.
//
// Sluice itself speaks the Blob API, which both kinds of account have; engines mostly speak the Data Lake API, and a
// directory's SAS holds for both.
//
// Errors are fault.Error, as those of internal/objects. Of ours it may import models, internal/objects and internal/fault;
// beside them the Azure SDK.
package azure
