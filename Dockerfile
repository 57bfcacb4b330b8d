# The images of Weir. Each process has a target: control-plane, resolver, block-page, migrate.
#
#   compose/build-images.sh resolver
#
# Set BASE_IMAGE to a digest or a mirror, and NPM_CONFIG_REGISTRY to a mirror of the npm registry, if you need them.
ARG BASE_IMAGE=docker.io/library/debian:bookworm-slim

# Only the manifests and the lock file. While they stay the same, the layer with the installed packages is reused.
FROM ${BASE_IMAGE} AS manifests
WORKDIR /src
COPY . .
RUN find . -type f ! -name package.json ! -name package-lock.json -delete

FROM ${BASE_IMAGE} AS build
# Debian's npm installs the packages of the lock file. One of them is the Node that runs everything else.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates libatomic1 npm \
  && rm -rf /var/lib/apt/lists/*
ARG NPM_CONFIG_REGISTRY
WORKDIR /src
COPY --from=manifests /src .
RUN npm ci --ignore-scripts --no-audit --no-fund --loglevel=error \
  && ln --symbolic /src/node_modules/node-linux-*/bin/node /usr/local/bin/node
ENV PATH=/src/node_modules/.bin:$PATH
COPY . .
# Prevents Prisma from downloading an engine that `prisma generate` does not use.
RUN PRISMA_SCHEMA_ENGINE_BINARY=/bin/true prisma generate \
  && tsc -b apps/*/tsconfig.build.json tools/tsconfig.build.json \
  && node apps/console/build.mjs
RUN for target in control-plane resolver block-page migrate; do \
    node compose/image-tree.mjs $target /images/$target || exit 1; \
  done

FROM ${BASE_IMAGE} AS runtime
# Node needs libatomic1. Every setuid and setgid bit is removed.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends libatomic1 \
  && rm -rf /var/cache/* /var/lib/apt/lists/* /var/log/* \
  && find / -xdev -perm /6000 -type f -exec chmod ug-s {} + \
  && install --directory --owner=65532 --group=65532 /data
COPY --from=build /src/node_modules/node-linux-*/bin/node /usr/local/bin/
COPY --from=build /src/node_modules/node-linux-*/LICENSE /usr/local/share/doc/node/
WORKDIR /app
USER 65532:65532
# DRAIN_S: seconds for which a process still answers after SIGTERM. Stopping takes at most ten seconds more.
# MALLOC_ARENA_MAX: glibc's malloc has one heap for all threads, which takes 5 MB less.
ENV NODE_ENV=production OPS_HOST=:: OPS_PORT=9090 DRAIN_S=5 MALLOC_ARENA_MAX=1
EXPOSE 9090/tcp
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "libs/ops/dist/call/main.js", "/livez"]
ARG VERSION=0.1.0
ARG REVISION
ARG SOURCE
ENV WEIR_COMMIT=${REVISION}
LABEL org.opencontainers.image.version=${VERSION} \
  org.opencontainers.image.revision=${REVISION} \
  org.opencontainers.image.source=${SOURCE} \
  org.opencontainers.image.licenses=LicenseRef-UNLICENSED \
  org.opencontainers.image.vendor=Weir

FROM runtime AS control-plane
LABEL org.opencontainers.image.title="Weir control plane" \
  org.opencontainers.image.description="Management API, feed API and catalogue"
COPY --from=build /images/control-plane .
ENV MANAGEMENT_HOST=:: MANAGEMENT_PORT=8080 FEED_HOST=:: FEED_PORT=8090 FEED_DIR=/data \
  CATALOGUE=/app/catalogue PATH=/app/apps/cli:$PATH
EXPOSE 8080/tcp 8090/tcp
VOLUME /data
ENTRYPOINT ["node", "apps/control-plane/dist/main.js"]

FROM runtime AS resolver
LABEL org.opencontainers.image.title="Weir resolver" \
  org.opencontainers.image.description="DNS servers that answer the subscribers"
COPY --from=build /images/resolver .
ENV DNS_HOST=:: DNS_PORT=5300 DATA_DIR=/data
EXPOSE 5300/udp 5300/tcp
VOLUME /data
ENTRYPOINT ["node", "apps/resolver/dist/main.js"]

FROM runtime AS block-page
LABEL org.opencontainers.image.title="Weir block page" \
  org.opencontainers.image.description="Page that tells visitors why a site is blocked"
COPY --from=build /images/block-page .
ENV BLOCK_PAGE_HOST=:: BLOCK_PAGE_PORT=8081 DATA_DIR=/data
EXPOSE 8081/tcp
VOLUME /data
ENTRYPOINT ["node", "apps/block-page/dist/main.js"]

FROM runtime AS migrate
LABEL org.opencontainers.image.title="Weir migrations" \
  org.opencontainers.image.description="Migrates the database"
COPY --from=build /images/migrate .
HEALTHCHECK NONE
ENTRYPOINT ["node", "tools/dist/migrate.js"]
