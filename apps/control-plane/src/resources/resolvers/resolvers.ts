import { Controller } from '@nestjs/common';
import { type KnownResolver, UPSTREAM_STATES } from '@weir/change-feed';
import { IsOptional } from 'class-validator';
import { Prisma } from '../../generated/prisma/client.js';
import { ReadingEndpoint } from '../../http/routing/endpoint.js';
import { Example, exampleOf, type Json } from '../../http/validation/dto.js';
import {
  IsAnswered,
  IsInteger,
  IsNestedList,
  IsOneOf,
  IsText,
  IsTime,
} from '../../http/validation/rules.js';
import { Database } from '../../platform/database/database.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { Propagation } from '../../revisions/propagation.js';

@Example<UpstreamDto>({ address: '192.0.2.53:53', state: 'up' })
export class UpstreamDto {
  @IsText('an address') address!: string;
  @IsOneOf(UPSTREAM_STATES) state!: string;
}

const MAX = Number.MAX_SAFE_INTEGER;
const IsAmount = () => IsAnswered({ type: 'number', minimum: 0 });
const IsRatio = () => IsAnswered({ type: 'number', minimum: 0, maximum: 1 });

/** Null where nothing was said: by a resolver of another version, or of a ratio of nothing. */
@Example<ResolverDto>({
  id: 'dns-1-4711-0d9c2f6e-3f1b-4f6a-9d0e-8a7b6c5d4e3f',
  name: 'dns-1:53',
  address: '192.0.2.1:53',
  version: '0.1.0',
  state: 'live',
  revision: 1042,
  behind_revisions: 0,
  behind_seconds: 0,
  catalogue: 17,
  last_seen: '2026-11-24T12:00:00.250Z',
  threads: 3,
  answers_per_second: 1850.5,
  cache_hit_ratio: 0.912,
  blocked_ratio: 0.041,
  upstreams: [exampleOf(UpstreamDto)],
})
export class ResolverDto {
  @IsText('an id') id!: string;
  @IsText('a name') name!: string;
  @IsOptional() @IsText('an address') address!: string | null;
  @IsOptional() @IsText('a version') version!: string | null;
  @IsOneOf(['live', 'catching_up', 'missing']) state!: string;
  @IsInteger(0, MAX) revision!: number;
  @IsOptional() @IsInteger(0, MAX) behind_revisions!: number | null;
  @IsOptional() @IsAmount() behind_seconds!: number | null;
  @IsOptional() @IsInteger(0, MAX) catalogue!: number | null;
  @IsTime() last_seen!: string;
  @IsOptional() @IsInteger(0, MAX) threads!: number | null;
  @IsOptional() @IsAmount() answers_per_second!: number | null;
  @IsOptional() @IsRatio() cache_hit_ratio!: number | null;
  @IsOptional() @IsRatio() blocked_ratio!: number | null;
  @IsNestedList(() => UpstreamDto) upstreams!: UpstreamDto[];
}

/** A change is in force everywhere after milliseconds. One that takes longer than this is not on its way any more. */
const MOMENT_S = 1;

const NOTHING = Prisma.sql`SELECT 1 LIMIT 0`;

/** The resolvers, as they say themselves over Redis that they are. */
@Controller()
export class ResolversController {
  constructor(
    private readonly database: Database,
    private readonly reader: ConfigurationReader,
    private readonly propagation: Propagation,
  ) {}

  /** What is acknowledged while the head is read counts, so a resolver is not shown behind without need. */
  @ReadingEndpoint('GET /resolvers/', {
    summary: 'The resolvers that count in `X-Config-Applied`, by name',
    answer: [ResolverDto],
  })
  async list(): Promise<Json<ResolverDto>[]> {
    const { result: lineage, revision } = await this.reader.read(
      NOTHING,
      (_rows, head) => head.lineage,
    );
    const resolvers = this.propagation.publisher.resolvers().map((resolver) => ({
      resolver,
      behind: revisionsBehind(resolver, lineage, revision),
    }));
    const firstLacking = resolvers.map(({ behind }) => revision - (behind ?? 0) + 1);
    const ages = await this.agesOf(firstLacking.filter((one) => one <= revision));
    const listed = resolvers.map(({ resolver, behind }, i) => {
      const seconds = behind === 0 ? 0 : (ages.get(firstLacking[i]) ?? null);
      return toDto(resolver, behind, seconds);
    });
    return listed.sort((a, b) => order(a.name, b.name) || order(a.id, b.id));
  }

  /** Seconds since these changes, by revision. */
  private async agesOf(revisions: readonly number[]): Promise<ReadonlyMap<number, number>> {
    if (revisions.length === 0) return new Map();
    const rows = await this.database.prisma.$queryRaw<{ revision: number; seconds: number }[]>`
      SELECT revision::float8 AS revision, extract(epoch FROM now() - created_at)::float8 AS seconds
      FROM change_record WHERE revision = ANY (${[...new Set(revisions)]}::bigint[])`;
    return new Map(rows.map(({ revision, seconds }) => [revision, Math.max(0, seconds)]));
  }
}

/** Null: what it has in force is not of this log. */
function revisionsBehind(
  { state: { inForce }, isWrong }: KnownResolver,
  lineage: string,
  revision: number,
): number | null {
  if (inForce === null || isWrong || inForce.lineage !== lineage) return null;
  return Math.max(0, revision - inForce.revision);
}

function toDto(
  { state: { id, name, inForce, status }, isMissing, seenMs }: KnownResolver,
  behind: number | null,
  behindSeconds: number | null,
): Json<ResolverDto> {
  const isCurrent = behind !== null && behindSeconds !== null && behindSeconds <= MOMENT_S;
  return {
    id,
    name: name ?? id,
    address: status?.address ?? null,
    version: status?.version ?? null,
    state: isMissing ? 'missing' : isCurrent ? 'live' : 'catching_up',
    revision: inForce?.revision ?? 0,
    behind_revisions: behind,
    behind_seconds: behindSeconds,
    catalogue: status?.catalogue ?? null,
    last_seen: new Date(Date.now() - (performance.now() - seenMs)).toISOString(),
    threads: status?.threads ?? null,
    answers_per_second: status?.answersPerSecond ?? null,
    cache_hit_ratio: status?.cacheHitRatio ?? null,
    blocked_ratio: status?.blockedRatio ?? null,
    upstreams: (status?.upstreams ?? []).map(({ address, state }) => ({ address, state })),
  };
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
