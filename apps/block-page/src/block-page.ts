import { type Logger, type Service, stopAndThrow, stopInOrder, stopTogether } from '@weir/ops';
import { OpsServer } from '@weir/ops/metrics';
import { followPolicy, openFeedAccess } from '@weir/policy-feed';
import { openTelemetry } from '@weir/telemetry';
import { readBrand } from './brand/brand.js';
import type { BlockPageConfiguration } from './configuration.js';
import { createPageServer } from './create-page-server.js';
import { PageCounters, createRegistry } from './metrics/page-counters.js';
import { preview } from './preview/preview.js';
import { HttpsRefusal } from './server/page-server.js';

export interface BlockPage extends Service {
  readonly port: number;
  /** The port that refuses HTTPS; undefined: nothing listens. */
  readonly httpsPort: number | undefined;
  readonly opsPort: number;
  /** Resolves when the first configuration is in force and at the head. */
  readonly ready: Promise<void>;
}

export interface BlockPageOptions {
  readonly configuration: BlockPageConfiguration;
  readonly log: Logger;
  /** Wall clock in milliseconds, for schedules. */
  readonly nowMs?: () => number;
}

/** @throws StartError, as `startBlockPage`, when a file that the configuration names cannot be used. */
export function checkFiles(configuration: BlockPageConfiguration, log: Logger): void {
  openFeedAccess(configuration, log);
  readBrand(configuration);
}

/**
 * Starts a block page: first health and metrics, then all other listeners, so that a port in use is reported at
 * once, then the feed.
 * @throws StartError when a port is in use, or a file such as the logo cannot be used.
 */
export async function startBlockPage(options: BlockPageOptions): Promise<BlockPage> {
  const { OPS_HOST: host, OPS_PORT: port } = options.configuration;
  const ops = await OpsServer.start({ host, port, log: options.log });
  try {
    return await startWithOps(options, ops);
  } catch (error) {
    return stopAndThrow(error, [() => ops.close()], options.log);
  }
}

async function startWithOps(options: BlockPageOptions, ops: OpsServer): Promise<BlockPage> {
  const { configuration, log, nowMs = Date.now } = options;
  const telemetry = await openTelemetry({ process: 'block-page', configuration, log });
  const tracer = telemetry?.tracer;
  const policy = followPolicy({ kind: 'block-page', configuration, log, tracer });
  const { target: source, follower, notReady, degraded, state: feed } = policy;
  const counters = new PageCounters();
  const created = createPageServer(configuration, { source, counters, nowMs, log });
  const { server, targets, pages, custom } = created;
  const listening: (() => Promise<void>)[] = [];
  try {
    const { BLOCK_PAGE_HOST: host, BLOCK_PAGE_HTTPS_PORT: refusedPort } = configuration;
    const port = await server.start({
      host,
      port: configuration.BLOCK_PAGE_PORT,
      variable: 'BLOCK_PAGE_PORT',
    });
    listening.push(() => server.stop());
    let httpsPort: number | undefined;
    if (refusedPort !== undefined) {
      const refusal = new HttpsRefusal();
      httpsPort = await refusal.start({
        host,
        port: refusedPort,
        variable: 'BLOCK_PAGE_HTTPS_PORT',
      });
      listening.push(() => refusal.stop());
    }
    const registry = createRegistry({ counters, custom, server, feed });
    telemetry?.exportMetrics(registry);
    const language = configuration.BLOCK_PAGE_LANGUAGE;
    ops.serve({
      notReady,
      degraded,
      registry,
      handleOther: (...call) => preview({ pages, custom, language, nowMs }, ...call),
    });
    return {
      port,
      httpsPort,
      opsPort: ops.port,
      ready: follower.start(),
      drain: () => ops.drain(),
      stop: () =>
        stopInOrder([
          () => ops.drain(),
          () => stopTogether(listening),
          () => follower.stop(),
          () => targets?.close(),
          () => telemetry?.stop(),
          () => ops.close(),
        ]),
    };
  } catch (error) {
    return stopAndThrow(error, listening, log);
  }
}
