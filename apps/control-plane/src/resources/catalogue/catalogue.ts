import { Body, Controller, Query } from '@nestjs/common';
import { readInForce } from '../../catalogue/store/catalogue-store.js';
import {
  type NamedGroup,
  type NamedSource,
  readDefinitionGroups,
} from '../../catalogue/store/definition-store.js';
import { findListed } from '../../catalogue/store/name-search.js';
import {
  acceptHeld,
  readHeld,
  readStates,
  type SourceState,
} from '../../catalogue/store/source-store.js';
import { conflict } from '../../http/errors/errors.js';
import { type Answer, ReadingEndpoint } from '../../http/routing/endpoint.js';
import type { Json } from '../../http/validation/dto.js';
import { throwIfFaults } from '../../http/validation/fault.js';
import { Database } from '../../platform/database/database.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import { DomainHasher } from '../domain-lists/domain-check.js';
import {
  AcceptDto,
  CatalogueDto,
  CatalogueSourceDto,
  CategoryDto,
  ListedNameDto,
  SearchQuery,
} from './catalogue.dto.js';

type OfGroup = Pick<CatalogueSourceDto, 'cat_id' | 'app_id'>;

/** The catalogue as the definition says it, and how its lists fare. Any replica tells the same. */
@Controller()
export class CatalogueController {
  constructor(
    private readonly database: Database,
    private readonly writer: ConfigurationWriter,
    private readonly hasher: DomainHasher,
  ) {}

  @ReadingEndpoint('GET /categories/', {
    summary: 'The categories of the catalogue in force, by id',
    answer: [CategoryDto],
  })
  async categories(): Promise<Json<CategoryDto>[]> {
    const { pool } = this.database;
    const { categories } = (await readInForce(pool)).metadata;
    const defined = new Map(
      (await readDefinitionGroups(pool)).categories.map((one) => [one.id, one]),
    );
    return categories.map(({ id, name, domains, mandatory = false, secret = false }) =>
      secret
        ? { id, secret }
        : {
            ...{ id, name },
            group: defined.get(id)?.group ?? null,
            purpose: defined.get(id)?.purpose ?? null,
            ...{ mandatory, domains },
          },
    );
  }

  @ReadingEndpoint('GET /catalogue/', {
    summary: 'The catalogue in force, and the lists that its definition names',
    answer: CatalogueDto,
  })
  async get(): Promise<Json<CatalogueDto>> {
    const { pool } = this.database;
    const { version, since, metadata } = await readInForce(pool);
    return {
      version,
      active_since: since?.toISOString() ?? null,
      popular: metadata.popular.map(({ categoryId, count, domains }) => ({
        ...{ cat_id: categoryId, count },
        ...(domains.length > 0 && { domains: [...domains] }),
      })),
      sources: await this.sources(),
    };
  }

  /** Only the caller gets the domain: it is not logged. */
  @ReadingEndpoint('GET /catalogue/search/', {
    summary: 'The lists that have a domain, or one above it',
    query: SearchQuery,
    answer: [ListedNameDto],
  })
  async search(@Query() { domain }: SearchQuery): Promise<Json<ListedNameDto>[]> {
    const hashes = this.hasher.suffixes(domain);
    const listed = await findListed(this.database.pool, hashes, null);
    const labels = domain.split('.');
    const shown = listed.filter(({ group }) => !group.secret);
    return shown.map(({ kind, group: { id, name }, source, labels: count, line, since }) => ({
      cat_id: kind === 'categories' ? id : null,
      app_id: kind === 'applications' ? id : null,
      ...{ name, source: source ?? 'inline', matched: labels.slice(-count).join('.') },
      ...{ line, since: since.toISOString() },
    }));
  }

  /** Takes the held list of a source, for all groups that name it. It is in force when a replica has compiled it. */
  @ReadingEndpoint('POST /catalogue/accept', {
    summary: 'Takes a list that is held back',
    body: AcceptDto,
    answer: CatalogueSourceDto,
    errors: [409],
  })
  async accept(@Body() { cat_id, app_id, source }: AcceptDto): Answer<CatalogueSourceDto> {
    const group = { cat_id: cat_id ?? null, app_id: app_id ?? null };
    const isOfGroup = (one: OfGroup): boolean =>
      one.cat_id === group.cat_id && one.app_id === group.app_id;
    const known = (await this.sources()).filter(isOfGroup);
    const isKnown = known.some((one) => one.source === source);
    const msg = 'The catalogue has no such source there';
    throwIfFaults(isKnown ? [] : [{ loc: ['body', 'source'], msg, type: 'reference' }]);
    const taken = await this.writer.writeAlone(async (client) => {
      const names = await acceptHeld(client, source);
      if (names === null) return null;
      const keys = [['put', 'catalogueSource', [source]] as const];
      return { result: names, changes: [], keys };
    });
    if (taken === null) throw conflict(`no list of ${source} is held`);
    const now = (await this.sources()).find((one) => isOfGroup(one) && one.source === source);
    return taken.map(() => now ?? known[0]);
  }

  private async sources(): Promise<Json<CatalogueSourceDto>[]> {
    const { pool } = this.database;
    const { categories, applications } = await readDefinitionGroups(pool);
    const states = await readStates(pool);
    const held = new Set((await readHeld(pool)).map(({ name }) => name));
    const listed = (groups: readonly NamedGroup[], of: (id: number) => OfGroup) =>
      groups.flatMap(({ id, sources }) =>
        sources.map((source) =>
          toDto(of(id), source, states.get(source.name), held.has(source.name)),
        ),
      );
    return [
      ...listed(categories, (id) => ({ cat_id: id, app_id: null })),
      ...listed(applications, (id) => ({ cat_id: null, app_id: id })),
    ];
  }
}

function toDto(
  group: OfGroup,
  { name, format, licence, commercialUse }: NamedSource,
  state: SourceState | undefined,
  isHeld: boolean,
): Json<CatalogueSourceDto> {
  return {
    ...group,
    ...{ source: name, format, licence },
    state: stateOf(state, isHeld),
    names: state?.domainCount ?? 0,
    bytes: state?.namesBytes ?? 0,
    commercial_use:
      commercialUse === null || commercialUse === 'unknown'
        ? commercialUse
        : commercialUse === 'true',
    last_good: state?.lastSuccessAt?.toISOString() ?? null,
    mirror: state?.mirror ?? null,
    reason: state?.lastError ?? null,
  };
}

function stateOf(state: SourceState | undefined, isHeld: boolean): string {
  if (isHeld) return 'held';
  if (!state?.namesSha256) return 'never';
  return state.failures === 0 ? 'good' : 'failing';
}
