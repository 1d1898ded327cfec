# An image with turnpike and the compilers that programs under test need:
#   docker build -t turnpike .
#   docker run --rm -v "$PWD:/work" turnpike search model.mcrl2
FROM rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
RUN cargo install --locked --path crates/turnpike-cli --root /installed

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc g++ libc6-dev gdb \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /installed/bin/turnpike /usr/local/bin/turnpike
WORKDIR /work
ENTRYPOINT ["turnpike"]
