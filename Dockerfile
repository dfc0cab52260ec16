# Three stages: `generate` proves that the generated code is that of the schema, `build` makes static binaries, the last one runs them.
#
#   docker build --target generate .    # fails when make generate would change a file
#   docker build -t veneur .

ARG GO_VERSION=1.26

FROM golang:${GO_VERSION}-bookworm AS source
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .

FROM source AS generate
ARG PROTOC_VERSION=3.21.12-3+deb12u1
RUN apt-get update \
 && apt-get install -y --no-install-recommends protobuf-compiler=${PROTOC_VERSION} libprotobuf-dev=${PROTOC_VERSION} \
 && rm -rf /var/lib/apt/lists/*
# A tree without history is enough to see what generating changes.
RUN git init -q . && git add -A && git -c user.name=build -c user.email=build@localhost commit -qm source \
 && make generate \
 && git diff --exit-code

FROM source AS build
RUN make build

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /src/bin/veneur /src/bin/veneur-emit /usr/local/bin/
USER nonroot:nonroot
# In a container the loopback address of the default configuration is nobody's but the container's own.
ENV VENEUR_STATSD_LISTEN_ADDRESSES="udp://0.0.0.0:8126,tcp://0.0.0.0:8126" \
    VENEUR_SSF_LISTEN_ADDRESSES="udp://0.0.0.0:8128" \
    VENEUR_HTTP_ADDRESS="0.0.0.0:8127"
EXPOSE 8126/udp 8126/tcp 8127/tcp 8128/udp
HEALTHCHECK --interval=10s --timeout=2s --start-period=5s CMD ["/usr/local/bin/veneur", "-healthcheck"]
ENTRYPOINT ["/usr/local/bin/veneur"]
