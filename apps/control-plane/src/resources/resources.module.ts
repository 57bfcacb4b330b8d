import { Module } from '@nestjs/common';
import {
  ApplicationRulesController,
  ApplicationsController,
} from './application-rules/application-rules.js';
import { BlockPagesController } from './block-pages/block-pages.js';
import { CatalogueController } from './catalogue/catalogue.js';
import { DomainListsController } from './domain-lists/domain-lists.js';
import { GrantsController } from './grants/grants.js';
import { NaptController } from './networks/napt/napt.js';
import { Ipv4NetworksController, Ipv6NetworksController } from './networks/prefixes/networks.js';
import { OrdersController } from './orders/orders.js';
import { ProfilesController } from './profiles/profiles.js';
import { ResolversController } from './resolvers/resolvers.js';
import { SchedulesController, SwitchesController } from './schedules/schedules.js';

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
})
export class ResourcesModule {}
