# The executable for Linux of a release, out of its image: its Node and its file, so that a repeated run makes the same.
ARG IMAGE
# hadolint ignore=DL3006
FROM $IMAGE AS released

FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY scripts/stubs scripts/stubs
# No script of a dependency runs.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY scripts/executable.ts scripts/
COPY --from=released /usr/local/bin/node /usr/local/bin/node
COPY --from=released /usr/local/bin/workspace-service build/workspace-service.mjs
RUN node scripts/executable.ts

FROM scratch
COPY --from=build /build/build/workspace-service /workspace-service-linux-x64
