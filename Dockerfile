# The whole product in one image: sluice serve, api, worker, migrate and the clients.
# docker build --build-arg VERSION=$(git describe --tags --always --dirty) .
FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG VERSION=
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -ldflags="-s -w -X github.com/sluice-data/sluice/internal/telemetry.version=${VERSION}" -o /out/sluice ./cmd/sluice

FROM alpine:3.22
RUN apk add --no-cache ca-certificates tzdata \
    && adduser -D -H -u 10001 sluice \
    && install -d -o sluice -g sluice -m 0700 /var/lib/sluice
COPY --from=build /out/sluice /usr/local/bin/sluice
USER 10001:10001
ENV SLUICE_DATA=/var/lib/sluice \
    SLUICE_LISTEN=0.0.0.0:8181
VOLUME /var/lib/sluice
EXPOSE 8181
ENTRYPOINT ["/usr/local/bin/sluice"]
CMD ["serve"]
