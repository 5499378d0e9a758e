// Package folder keeps the objects of S3 buckets as plain files: a bucket is a folder, a key the path of a file in it.
// It is the storage behind internal/s3gateway, and shares its folders with everything that reads and writes them as
// files: what one side writes the other reads, byte for byte, with no index in between.
//
// A key must therefore be a path that means itself: empty, "." and ".." segments are refused, so that no two keys name
// one file. Symbolic links are not followed. A key and another one below it ("a" and "a/b") cannot both exist. On a
// file system that ignores case or normalises names, keys that differ in no more than that are the same object.
//
// What a file cannot hold (MD5 ETag, content type, user metadata) is in one extended attribute that also says which
// size and time of change it belongs to. Without it, because another program wrote the file or the file system has no
// such attributes, the ETag is made from what the file system knows and changes whenever the file does.
//
// Nothing has its name before it is whole and flushed. Writing only where nothing is (If-None-Match: *) is a hard
// link, which the file system refuses when the name is taken, so it also holds against writers outside this process.
// Files that are being written, and the parts of uploads, lie in the bucket's folder .sluice-s3, under names that
// internal/objects does not list.
//
// Of ours it imports nothing; beside that the backend interface and the errors of versitygw.
package folder
