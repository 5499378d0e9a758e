package data

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rows"
)

// accepted gives the format that a client likes best of an answer with rows; JSON where it does not say.
func accepted(headers []string) (rows.Format, error) {
	type wish struct {
		media  string
		weight float64
	}
	var wishes []wish
	for _, part := range strings.Split(strings.Join(headers, ","), ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		weight := 1.0
		if q, given := params["q"]; given {
			if weight, err = strconv.ParseFloat(q, 64); err != nil {
				weight = 0
			}
		}
		wishes = append(wishes, wish{media, weight})
	}
	if len(wishes) == 0 {
		return rows.JSON, nil
	}
	slices.SortStableFunc(wishes, func(a, b wish) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	for _, w := range wishes {
		for _, f := range rows.Formats() {
			if w.weight > 0 && covers(w.media, string(f)) {
				return f, nil
			}
		}
	}
	return "", fault.New(fault.Unsupported, "Rows are answered as %s. Accept one of these.", formatNames())
}

// covers tells whether a media range means a media type.
func covers(media, format string) bool {
	group, _, _ := strings.Cut(format, "/")
	return media == "*/*" || media == group+"/*" || media == format
}

// formatOf gives the format of a body by its Content-Type; JSON where there is none.
func formatOf(header string) (rows.Format, error) {
	if header == "" {
		return rows.JSON, nil
	}
	media, _, err := mime.ParseMediaType(header)
	if err == nil && slices.Contains(rows.Formats(), rows.Format(media)) {
		return rows.Format(media), nil
	}
	return "", &wire.RefusalError{
		Status: http.StatusUnsupportedMediaType, Kind: "UnsupportedMediaTypeException",
		Message: fmt.Sprintf("Rows are written as %s. Say which in the header Content-Type.", formatNames()),
	}
}

func formatNames() string {
	names := make([]string, 0, len(rows.Formats()))
	for _, f := range rows.Formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}
