package reconcile

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// humanInteger writes the integers of a partition, which may be a number of days, months or microseconds since 1970.
func humanInteger(v int64, transform, typ string) string {
	switch transform {
	case "year":
		return strconv.FormatInt(1970+v, 10)
	case "month":
		return time.Date(1970, time.Month(1+v%12), 1, 0, 0, 0, 0, time.UTC).AddDate(int(v/12), 0, 0).Format("2006-01")
	case "day":
		return day(v)
	case "hour":
		return time.Unix(v*3600, 0).UTC().Format("2006-01-02-15")
	}
	if strings.HasPrefix(transform, "bucket") {
		return strconv.FormatInt(v, 10)
	}
	switch typ {
	case "date":
		return day(v)
	case "time":
		return time.UnixMicro(v).UTC().Format("15:04:05.999999")
	case "timestamp":
		return time.UnixMicro(v).UTC().Format("2006-01-02T15:04:05.999999")
	case "timestamptz":
		return time.UnixMicro(v).UTC().Format("2006-01-02T15:04:05.999999+00:00")
	case "timestamp_ns":
		return time.Unix(0, v).UTC().Format("2006-01-02T15:04:05.999999999")
	case "timestamptz_ns":
		return time.Unix(0, v).UTC().Format("2006-01-02T15:04:05.999999999+00:00")
	}
	return strconv.FormatInt(v, 10)
}

// day writes a day by its number.
func day(v int64) string {
	const most = 1 << 31 // days in 32 bits
	if v < -most || v >= most {
		return strconv.FormatInt(v, 10)
	}
	return time.Unix(v*86400, 0).UTC().Format("2006-01-02")
}

// humanBytes writes texts, and what is stored in bytes: decimals, UUIDs and plain bytes.
func humanBytes(v, _, typ string) string {
	switch kind, _, _ := strings.Cut(typ, "("); {
	case kind == "decimal":
		return decimalText([]byte(v), scaleOf(typ))
	case typ == "uuid" && len(v) == 16:
		return fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:])
	case typ == "binary", strings.HasPrefix(typ, "fixed"):
		return base64.StdEncoding.EncodeToString([]byte(v[:min(len(v), longestPartition)]))
	}
	return v
}

// scaleOf gives the scale of decimal(p,s).
func scaleOf(typ string) int {
	_, scale, _ := strings.Cut(strings.TrimSuffix(typ, ")"), ",")
	n, _ := strconv.Atoi(strings.TrimSpace(scale))
	return max(min(n, 38), 0)
}

// decimalText writes an unscaled number, two's complement, with its point.
func decimalText(unscaled []byte, scale int) string {
	n := new(big.Int).SetBytes(unscaled[:min(len(unscaled), 32)])
	if len(unscaled) > 0 && unscaled[0] > 127 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*min(len(unscaled), 32))))
	}
	text := new(big.Int).Abs(n).String()
	if scale > 0 {
		if len(text) <= scale {
			text = strings.Repeat("0", scale+1-len(text)) + text
		}
		text = text[:len(text)-scale] + "." + text[len(text)-scale:]
	}
	if n.Sign() < 0 {
		text = "-" + text
	}
	return text
}
