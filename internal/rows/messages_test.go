package rows

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestFramesAreWalked: what a compressed buffer makes the decompressor take is known before it runs.
func TestFramesAreWalked(t *testing.T) {
	t.Parallel()
	compress := func(n int, o ...zstd.EOption) []byte {
		var out bytes.Buffer
		w, err := zstd.NewWriter(&out, o...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(bytes.Repeat([]byte("0123456789"), n/10)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	buffer := func(size int, frame []byte) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, uint64(size)), frame...)
	}
	small := compress(1000)
	const most = 1 << 20
	for name, c := range map[string]struct {
		buffer []byte
		ok     bool
	}{
		"small":          {buffer(1000, small), true},
		"many blocks":    {buffer(900_000, compress(900_000, zstd.WithWindowSize(64<<10))), true},
		"wide window":    {buffer(1000, compress(5_000_000, zstd.WithWindowSize(8<<20))), false},
		"two frames":     {buffer(1000, append(bytes.Clone(small), small...)), false},
		"cut":            {buffer(1000, small[:len(small)-5]), false},
		"no frame":       {buffer(1000, []byte("nothing of the kind")), false},
		"large":          {buffer(most+1, small), false},
		"negative":       {buffer(-7, small), false},
		"not compressed": {buffer(-1, []byte("as it is")), true},
		"empty":          {nil, true},
		"short":          {[]byte("abc"), false},
	} {
		if err := checkBuffer(zstdCodec, c.buffer, most); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
