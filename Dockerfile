# The whole product in one image: sluice serve, api, worker, migrate and the clients.
FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /out/sluice ./cmd/sluice

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
