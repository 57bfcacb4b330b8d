import { Module } from '@nestjs/common';
import {
  ApplicationRulesController,
  ApplicationRulesService,
  ApplicationsController,
} from './application-rules/application-rules.js';
import { ActiveCatalogueReader } from './applications/active-catalogue-reader.js';
import { BlockPagesController, BlockPagesService } from './block-pages/block-pages.js';
import { CatalogueController, CatalogueService } from './catalogue/catalogue.js';
import { DomainListsController, DomainListsService } from './domain-lists/domain-lists.js';
import { GrantsController, GrantsService } from './grants/grants.js';
import { NaptController, NaptService } from './networks/napt/napt.js';
import {
  Ipv4NetworksController,
  Ipv4NetworksService,
  Ipv6NetworksController,
  Ipv6NetworksService,
} from './networks/prefixes/networks.js';
import { OrdersController, OrdersService } from './orders/orders.js';
import { ProfilesController, ProfilesService } from './profiles/profiles.js';
import { ResolversController } from './resolvers/resolvers.js';
import {
  SchedulesController,
  SchedulesService,
  SwitchesController,
} from './schedules/schedules.js';

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
