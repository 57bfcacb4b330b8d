import { Module } from '@nestjs/common';
import { ApplicationRulesController } from './application-rules/application-rules.controller.js';
import { ApplicationRulesService } from './application-rules/application-rules.service.js';
import { ActiveCatalogueReader } from './applications/active-catalogue-reader.js';
import { ApplicationsController } from './applications/applications.controller.js';
import { BlockPagesController } from './block-pages/block-pages.controller.js';
import { BlockPagesService } from './block-pages/block-pages.service.js';
import { CatalogueController } from './catalogue/catalogue.controller.js';
import { CatalogueService } from './catalogue/catalogue.service.js';
import { DomainListsController } from './domain-lists/domain-lists.controller.js';
import { DomainListsService } from './domain-lists/domain-lists.service.js';
import { GrantsController } from './grants/grants.controller.js';
import { GrantsService } from './grants/grants.service.js';
import { NaptController } from './networks/napt/napt.controller.js';
import { NaptService } from './networks/napt/napt.service.js';
import {
  Ipv4NetworksController,
  Ipv6NetworksController,
} from './networks/prefixes/networks.controller.js';
import { Ipv4NetworksService, Ipv6NetworksService } from './networks/prefixes/networks.service.js';
import { OrdersController } from './orders/orders.controller.js';
import { OrdersService } from './orders/orders.service.js';
import { ProfilesController } from './profiles/profiles.controller.js';
import { ProfilesService } from './profiles/profiles.service.js';
import { ResolversController } from './resolvers/resolvers.controller.js';
import { SchedulesController } from './schedules/schedules.controller.js';
import { SchedulesService } from './schedules/schedules.service.js';
import { SwitchesController } from './schedules/switches.controller.js';

/** The resources of the management API. */
@Module({
  controllers: [
    ApplicationsController,
    ProfilesController,
    ApplicationRulesController,
    BlockPagesController,
    DomainListsController,
    Ipv4NetworksController,
    Ipv6NetworksController,
    NaptController,
    SchedulesController,
    SwitchesController,
    OrdersController,
    GrantsController,
    ResolversController,
    CatalogueController,
  ],
  providers: [
    ActiveCatalogueReader,
    ProfilesService,
    ApplicationRulesService,
    BlockPagesService,
    DomainListsService,
    Ipv4NetworksService,
    Ipv6NetworksService,
    NaptService,
    SchedulesService,
    OrdersService,
    GrantsService,
    CatalogueService,
  ],
})
export class ResourcesModule {}
