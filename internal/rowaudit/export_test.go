package rowaudit

// What is in a block before it is compressed.
var (
	AppendPlain = appendPlain
	ReadPlain   = readPlain
)
