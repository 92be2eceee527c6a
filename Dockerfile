# The image of the service: docs/self-hosting.md says how to run it, and .ci/check-image builds and tries it.

# It runs on the platform of the machine that builds, because what it makes is JavaScript and the same for every platform.
FROM --platform=$BUILDPLATFORM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY stubs stubs
# No script of a dependency runs.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY compile.ts tsconfig.json tsconfig.build.json ./
COPY src src
ARG REVISION=unknown
RUN node compile.ts --revision "$REVISION" && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-slim
# A pinned version of a Debian package is gone with its next security fix.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git git-lfs openssh-client tini \
  && rm -rf /var/lib/apt/lists/*

# ssh refuses to run as a user that has no name, and looks for its keys in the home folder of that name.
RUN useradd --uid 10001 --user-group --no-log-init --home-dir /var/lib/workspace-service workspace-service \
  && install --directory --owner=10001 --group=10001 --mode=0700 /var/lib/workspace-service \
  && ln --symbolic /opt/workspace-automation/bin/workspace-service.js /usr/local/bin/workspace-service

WORKDIR /opt/workspace-automation
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/build/client build/client
COPY --from=build /build/build/interface build/interface
COPY --from=build /build/build/locks build/locks
COPY --from=build /build/build/service build/service
# node_modules has a link to one of them.
COPY stubs stubs
COPY bin bin
COPY package.json LICENSE ./

ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="workspace-service" \
  org.opencontainers.image.description="Locks, syncs and build webhooks of large binary assets" \
  org.opencontainers.image.source="https://github.com/workspace-automation/workspace-automation" \
  org.opencontainers.image.documentation="https://github.com/workspace-automation/workspace-automation/blob/main/docs/self-hosting.md" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION"

USER 10001:10001
ENV HOME=/var/lib/workspace-service WORKSPACE_SERVICE_DATA=/var/lib/workspace-service
WORKDIR /var/lib/workspace-service
VOLUME /var/lib/workspace-service
EXPOSE 8080

# tini passes SIGTERM on to the service, which then ends its git processes itself, and reaps what those leave behind.
ENTRYPOINT ["/usr/bin/tini", "--", "workspace-service"]
# As flags, because a Kubernetes Service with an unlucky name sets the variables for both.
CMD ["serve", "--host", "0.0.0.0", "--port", "8080"]
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:8080/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
