import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { registerFeedFileMetrics, registerTlsMetrics } from '@weir/ops/metrics';
import type { Server } from 'node:http';
import { Registry } from 'prom-client';
import { ChangesModule } from './changes/changes.module.js';
import { CatalogueUpdater } from './catalogue/catalogue-updater.js';
import { CoreModule } from './core.module.js';
import { DatabaseFeedSource } from './feed/database-feed-source.js';
import { ExplainModule } from './explain/explain.module.js';
import { FeedApi } from './feed/feed-api.js';
import { HttpModule } from './http/http.module.js';
import { InitModule } from './init/init.module.js';
import { registerMetrics } from './operations/metrics.js';
import { Readiness } from './operations/readiness.js';
import { Database } from './platform/database/database.js';
import { JobScheduler } from './platform/jobs/job-scheduler.js';
import { closeServer, listen } from './platform/server-lifecycle.js';
import { PROCESS, type Process } from './process.js';
import { ResourcesModule } from './resources/resources.module.js';
import { Propagation } from './revisions/propagation.js';

/** Opens the ports when everything else is there, and then begins the work in the background. */
@Module({})
export class AppModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  static with(process: Process, registry: Registry): DynamicModule {
    const imports = [
      CoreModule.with(process, registry),
      HttpModule.with(process.configuration),
      ResourcesModule,
      InitModule,
      ExplainModule,
      ChangesModule,
    ];
    return { module: AppModule, imports };
  }

  /**
   * Resolves when the catalogue is in force, also when it has to wait for the database.
   * @returns false: this process is being stopped
   */
  ready: Promise<boolean> = Promise.resolve(false);
  private isStopping = false;

  constructor(
    @Inject(PROCESS) private readonly process: Process,
    private readonly registry: Registry,
    private readonly host: HttpAdapterHost,
    private readonly database: Database,
    private readonly readiness: Readiness,
    private readonly source: DatabaseFeedSource,
    private readonly propagation: Propagation,
    private readonly feed: FeedApi,
    private readonly updater: CatalogueUpdater,
    private readonly scheduler: JobScheduler,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { configuration, ops } = this.process;
    const { MANAGEMENT_HOST, MANAGEMENT_PORT, FEED_HOST, FEED_PORT } = configuration;
    const management = { host: MANAGEMENT_HOST, port: MANAGEMENT_PORT };
    await listen(this.managementServer, { ...management, variable: 'MANAGEMENT_PORT' });
    const feed = { host: FEED_HOST, port: FEED_PORT };
    await listen(this.feed.server, { ...feed, variable: 'FEED_PORT' });
    ops.waitFor('the catalogue');
    this.ready = this.makeReady();
  }

  /** After the ports are open: a second process started by mistake changes nothing. Calls are served meanwhile. */
  private async makeReady(): Promise<boolean> {
    await this.updater.start();
    if (this.isStopping) return false;
    this.scheduler.start();
    const { registry, readiness, process } = this;
    registerMetrics(registry, this.database, this.source, this.propagation.publisher);
    registerFeedFileMetrics(registry, { FEED_TOKENS_FILE: process.deployment.tokenFileFaults });
    registerTlsMetrics(registry, { MANAGEMENT_TLS: process.tls, FEED_TLS: process.feedTls });
    process.ops.serve({
      notReady: () => readiness.notReady(),
      degraded: () => readiness.degraded(),
      registry,
    });
    process.telemetry?.exportMetrics(registry);
    return true;
  }

  /** All at once, because the time for a stop is limited. The connections that the work needs are closed later. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    this.updater.stop();
    await Promise.all([
      closeServer(this.managementServer),
      closeServer(this.feed.server),
      this.scheduler.stop(),
    ]);
    // It reads the metrics once more.
    await this.process.telemetry?.stop();
  }

  private get managementServer(): Server {
    return this.host.httpAdapter.getHttpServer() as Server;
  }
}
