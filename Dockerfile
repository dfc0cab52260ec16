# Three stages: `generate` proves that the generated code is that of the schema, `build` makes static binaries, the last one runs them.
#
#   docker build --target generate .    # fails when make generate would change a file
#   docker build -t veneur .
#   docker run -p 8126:8126/udp -p 8127:8127 veneur
#   docker run -v /etc/veneur:/etc/veneur:ro veneur

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
# Against what was copied rather than against the last commit: what matters is whether generating changes anything.
RUN git init -q . && git add -A && git -c user.name=build -c user.email=build@localhost commit -q --allow-empty -m source \
 && make generate \
 && git diff --exit-code

FROM source AS build
RUN make build

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /src/bin/veneur /src/bin/veneur-emit /usr/local/bin/
COPY packaging/container.yaml /etc/veneur/veneur.yaml
USER nonroot:nonroot
EXPOSE 8126/udp 8126/tcp 8127/tcp 8128/udp
# There is no shell here, so the program itself asks. The environment (VENEUR_…) wins over the file in both.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["/usr/local/bin/veneur", "-f", "/etc/veneur/veneur.yaml", "-healthcheck"]
ENTRYPOINT ["/usr/local/bin/veneur"]
CMD ["-f", "/etc/veneur/veneur.yaml"]
