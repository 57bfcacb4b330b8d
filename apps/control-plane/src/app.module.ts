import { type DynamicModule, Global, Module } from '@nestjs/common';
import { HttpModule } from './http/http.module.js';
import { HeldBodies } from './http/pipeline/held-bodies.js';
import type { HttpOptions } from './http/pipeline/http-options.js';
import { InitModule } from './init/init.module.js';
import { InitThread } from './init/thread/init-thread.js';
import { ApplicationRulesModule } from './resources/application-rules/application-rules.module.js';
import { ApplicationsModule } from './resources/applications/applications.module.js';
import { BlockPagesModule } from './resources/block-pages/block-pages.module.js';
import { DomainHasher } from './resources/domain-lists/domain-hasher.js';
import { DomainListsModule } from './resources/domain-lists/domain-lists.module.js';
import { NaptModule } from './resources/networks/napt/napt.module.js';
import { Ipv4NetworksModule } from './resources/networks/prefixes/ipv4-networks.module.js';
import { Ipv6NetworksModule } from './resources/networks/prefixes/ipv6-networks.module.js';
import { ProfilesModule } from './resources/profiles/profiles.module.js';
import { SchedulesModule } from './resources/schedules/schedules.module.js';
import { ConfigurationReader } from './revisions/configuration-reader.js';
import { ConfigurationWriter } from './revisions/configuration-writer.js';

/**
 * Services that all resources use. `control-plane.ts` creates them, because it controls the order of start and stop.
 */
export interface SharedServices {
  readonly reader: ConfigurationReader;
  readonly writer: ConfigurationWriter;
  readonly hasher: DomainHasher;
  readonly initBodies: HeldBodies;
  readonly initThread: InitThread;
}

/** The management API: one module per resource. */
@Global()
@Module({
  imports: [
    ApplicationsModule,
    ProfilesModule,
    ApplicationRulesModule,
    BlockPagesModule,
    DomainListsModule,
    Ipv4NetworksModule,
    Ipv6NetworksModule,
    NaptModule,
    SchedulesModule,
    InitModule,
  ],
})
export class AppModule {
  static with(shared: SharedServices, http: HttpOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [HttpModule.with(http)],
      providers: [
        { provide: ConfigurationReader, useValue: shared.reader },
        { provide: ConfigurationWriter, useValue: shared.writer },
        { provide: DomainHasher, useValue: shared.hasher },
        { provide: HeldBodies, useValue: shared.initBodies },
        { provide: InitThread, useValue: shared.initThread },
      ],
      exports: [ConfigurationReader, ConfigurationWriter, DomainHasher, HeldBodies, InitThread],
    };
  }
}
