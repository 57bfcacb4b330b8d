import { Controller, Module, Param, Query } from '@nestjs/common';
import { IsOptional } from 'class-validator';
import { Prisma } from '../generated/prisma/client.js';
import { ReadingEndpoint } from '../http/routing/endpoint.js';
import { Example, exampleOf, type Json } from '../http/validation/dto.js';
import { IntegerParameter, IsNestedList, IsText, Optional } from '../http/validation/rules.js';
import { formatIpv6, parseIpv4, parseIpv6 } from '../resources/networks/addresses/addresses.js';
import { profileNotFound } from '../resources/profiles/profile-store.js';
import { ProfilePath } from '../resources/profiles/profile.dto.js';
import { ConfigurationReader } from '../revisions/configuration-reader.js';
import { SubscriberDto } from './explain.dto.js';
import { ExplainController } from './explain.controller.js';

/** Where a page begins, in the order of the answer. */
interface Place {
  readonly kind: 'net' | 'net6' | 'napt';
  readonly ip: string;
  readonly lower: number;
  readonly upper: number;
}

/** `192.0.2.0`, `2001:db8::` or `198.51.100.1:1024-2047`; null: none of these. */
function readPlace(text: string): Place | null {
  const [, ip, lower, upper] = /^([\d.]+):(\d{1,5})-(\d{1,5})$/.exec(text) ?? [];
  if (ip !== undefined && parseIpv4(ip) !== null) {
    return { kind: 'napt', ip, lower: Number(lower), upper: Number(upper) };
  }
  if (parseIpv4(text) !== null) return { kind: 'net', ip: text, lower: 0, upper: 0 };
  return parseIpv6(text) === null ? null : { kind: 'net6', ip: text, lower: 0, upper: 0 };
}

@Example<SubscribersQuery>({ limit: 100 })
class SubscribersQuery {
  /** `next` of the page before. */
  @Optional()
  @IsText('what `next` of a page says', (text) => readPlace(text) !== null)
  after?: string;

  @Optional()
  @IntegerParameter(1, 1_000)
  limit = 100;
}

@Example<SubscribersDto>({
  subscribers: [exampleOf(SubscriberDto)],
  next: '192.0.2.0',
})
class SubscribersDto {
  @IsNestedList(() => SubscriberDto)
  subscribers!: SubscriberDto[];

  /** Null: there are no more. */
  @IsOptional()
  @IsText('a place')
  next!: string | null;
}

interface SubscriberRow {
  readonly position: number;
  /** Null: the profile has none. */
  readonly subscriber: Json<SubscriberDto> | null;
}

/** The networks and ranges of a profile: IPv4, IPv6, then ranges, each by address. */
@Controller()
export class SubscribersController {
  constructor(private readonly reader: ConfigurationReader) {}

  @ReadingEndpoint('GET /profile/:profile_id/subscribers', {
    path: ProfilePath,
    query: SubscribersQuery,
    summary: 'The networks and ranges of a profile, by pages',
    answer: SubscribersDto,
    errors: [404],
  })
  async list(
    @Param() { profile_id: profileId }: ProfilePath,
    @Query() { after, limit }: SubscribersQuery,
  ): Promise<Json<SubscribersDto>> {
    const place = after === undefined ? null : readPlace(after);
    const page = pageOf(profileId, place, limit + 1);
    const { result: rows } = await this.reader.read(page, (found: SubscriberRow[]) => found);
    if (rows.length === 0) throw profileNotFound(profileId);
    const all = rows
      .sort((a, b) => a.position - b.position)
      .flatMap(({ subscriber }) => (subscriber === null ? [] : withUsualIp(subscriber)));
    const subscribers = all.slice(0, limit);
    const last = all.length > limit ? subscribers.at(-1) : undefined;
    return { subscribers, next: last === undefined ? null : placeOf(last) };
  }
}

/** PostgreSQL ends some IPv6 addresses in an IPv4 address. */
function withUsualIp(subscriber: Json<SubscriberDto>): Json<SubscriberDto> {
  const words = parseIpv6(subscriber.ip);
  return words === null ? subscriber : { ...subscriber, ip: formatIpv6(words) };
}

function placeOf({ kind, ip, lower_port_bound, upper_port_bound }: Json<SubscriberDto>): string {
  return kind === 'napt' ? `${ip}:${lower_port_bound}-${upper_port_bound}` : ip;
}

const KINDS = ['net', 'net6', 'napt'] as const;

/** One row with nulls when the profile has none. @param place null: the beginning. */
function pageOf(profileId: number, place: Place | null, limit: number): Prisma.Sql {
  const first = place === null ? 0 : KINDS.indexOf(place.kind);
  const walks = KINDS.slice(first).map((kind, i) => {
    const after = i === 0 ? place : null;
    return Prisma.sql`(${walk(kind, profileId, after, limit)})`;
  });
  return Prisma.sql`
    SELECT position::integer AS position, subscriber
    FROM profile LEFT JOIN (
      SELECT *, row_number() OVER (ORDER BY family, address, lower_port, upper_port) AS position
      FROM (${Prisma.join(walks, ' UNION ALL ')}) AS found ORDER BY position LIMIT ${limit}
    ) AS page ON true
    WHERE profile.id = ${profileId}`;
}

function walk(
  kind: Place['kind'],
  profileId: number,
  after: Place | null,
  limit: number,
): Prisma.Sql {
  const family = Prisma.sql`${KINDS.indexOf(kind)}::integer AS family`;
  if (kind === 'napt') {
    const start = after ?? { ip: '0.0.0.0', lower: -1, upper: -1 };
    return Prisma.sql`
      SELECT ${family}, address, lower_port, upper_port, json_build_object(
        'kind', 'napt', 'ip', host(address), 'profile_id', profile_id,
        'lower_port_bound', lower_port, 'upper_port_bound', upper_port) AS subscriber
      FROM napt_assignment
      WHERE profile_id = ${profileId} AND (address, lower_port, upper_port)
            > (${start.ip}::inet, ${start.lower}::integer, ${start.upper}::integer)
      ORDER BY address, lower_port, upper_port LIMIT ${limit}`;
  }
  const table = Prisma.raw(kind === 'net' ? 'ipv4_network' : 'ipv6_network');
  const later = after === null ? Prisma.empty : Prisma.sql`AND address > ${after.ip}::inet`;
  return Prisma.sql`
    SELECT ${family}, address, 0 AS lower_port, 0 AS upper_port, json_build_object(
      'kind', ${kind}::text, 'ip', host(address), 'profile_id', profile_id, 'prefix_len', prefix_length) AS subscriber
    FROM ${table} WHERE profile_id = ${profileId} ${later} ORDER BY address LIMIT ${limit}`;
}

@Module({ controllers: [ExplainController, SubscribersController] })
export class ExplainModule {}
