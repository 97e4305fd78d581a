# docker build -t seckill .

FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/seckill ./cmd/seckill
# An empty directory, for a volume to take its owner from.
RUN mkdir bin/data

# No shell and nothing else to run: certificates, and a user without rights. Time zones are in the program.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /src/bin/seckill /seckill
COPY --from=build --chown=65532:65532 /src/bin/data /data
USER 65532:65532
WORKDIR /data
ENV SECKILL_LISTEN=:8080 SECKILL_DATA=/data
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/seckill"]
CMD ["serve"]
