# JavaScript environment for the docker provider.
FROM node:20-slim
# The image's own user `node` has uid 1000; the design wants it to be called `sandbox`.
RUN usermod --login sandbox --home /home/sandbox --move-home node && groupmod --new-name sandbox node \
 && mkdir /workspace && chown sandbox:sandbox /workspace
USER sandbox
WORKDIR /workspace
COPY --chown=sandbox:sandbox package.json ./
RUN npm install --omit=dev --no-audit --no-fund
CMD ["node"]
