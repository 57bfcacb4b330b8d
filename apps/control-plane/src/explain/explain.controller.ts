import { Controller, Inject, Query } from '@nestjs/common';
import { CatalogueImage } from '@weir/catalogue';
import { ClientAddress, type Incident, IncidentSeal } from '@weir/clients';
import type { PutOperation } from '@weir/config-model';
import {
  cutHash,
  hashDomain,
  type HashKey,
  parseHashKey,
  SuffixHashes,
  toWireName,
} from '@weir/dns-name';
import { formatName } from '@weir/dns-wire';
import {
  type CatalogueIndex,
  type Client,
  type Explanation,
  isOfOrders,
  Reason,
  UNKNOWN_PORT,
} from '@weir/policy';
import { parseTime } from '@weir/ops';
import type { Pool } from 'pg';
import { readImage } from '../catalogue/store/catalogue-store.js';
import { findListed, type ListedName } from '../catalogue/store/name-search.js';
import { ReadingEndpoint } from '../http/routing/endpoint.js';
import type { Json } from '../http/validation/dto.js';
import { InvalidRequestError } from '../http/validation/fault.js';
import { Database } from '../platform/database/database.js';
import { PROCESS, type Process } from '../process.js';
import { formatIpv4, formatIpv6 } from '../resources/networks/addresses/addresses.js';
import { type ConfigurationHead, ConfigurationReader } from '../revisions/configuration-reader.js';
import { type ExplainedProfileDto, ExplainQuery, ExplanationDto } from './explain.dto.js';
import { possibleCalls } from './flip.js';
import { ModelResolver, type QueryOutcome } from './model-resolver.js';
import { formatType, readType } from './record-types.js';
import { originOf } from './origin.js';
import { stepsOf } from './steps.js';
import {
  entitiesOf,
  subscriberDto,
  subscriberRows,
  type SubscriberRows,
} from './subscriber-rows.js';

const DESCRIPTION = `It asks no upstream, and knows neither LOCAL_RECORDS nor DNS_ALLOWED_CLIENTS_FILE nor the designated
resolvers: a name with local records is answered by these, whatever it says here.`;

/** What decides, at one revision. */
interface Situation {
  readonly rows: SubscriberRows;
  readonly revision: number;
  readonly catalogue: CatalogueIndex | null;
}

/** How long an incident number is good. */
const INCIDENT_MS = 86_400_000;

/**
 * Explains what a client gets for a name (decisions §12). It reads the rows of one subscriber and has them decide by
 * the code of resolvers. Neither the client nor the name is kept or logged.
 */
@Controller()
export class ExplainController {
  private readonly pool: Pool;
  private readonly hashKey: HashKey;
  private readonly image: ActiveImage;
  private readonly resolver: ModelResolver;
  /** Null: incident numbers are refused (`INCIDENT_KEYS` is unset). */
  private readonly seal: IncidentSeal | null;

  constructor(
    { pool }: Database,
    private readonly reader: ConfigurationReader,
    @Inject(PROCESS) { configuration }: Process,
  ) {
    const { INCIDENT_KEYS: keys } = configuration;
    this.pool = pool;
    this.hashKey = parseHashKey(configuration.DOMAIN_HASH_KEY);
    this.image = new ActiveImage(pool, this.hashKey);
    this.resolver = new ModelResolver(configuration, this.hashKey);
    this.seal = keys === undefined ? null : new IncidentSeal(keys);
  }

  /** What an incident number tells. @throws InvalidRequestError when it is none, or is too old. */
  private incidentOf(text: string): Incident {
    const { seal } = this;
    const incident = seal?.open(text);
    if (incident && Date.now() - incident.atMs <= INCIDENT_MS) return incident;
    const msg =
      seal === null
        ? 'This control plane has no INCIDENT_KEYS'
        : incident
          ? 'Has expired: an incident number is good for a day'
          : 'Must be an incident number of a block page, whole, made with a key of INCIDENT_KEYS';
    throw new InvalidRequestError([{ loc: ['query', 'incident'], msg, type: 'value_error' }]);
  }

  @ReadingEndpoint('GET /explain/', {
    query: ExplainQuery,
    summary: 'What a client gets for a name, and why',
    description: DESCRIPTION,
    answer: ExplanationDto,
  })
  async explain(@Query() query: ExplainQuery): Promise<Json<ExplanationDto>> {
    const { client, domain, target, atMs } =
      query.incident === undefined ? askedIn(query) : this.incidentOf(query.incident);
    const qtype = readType(query.type) ?? 0;
    const { resolver, hashKey } = this;
    const names = [domain, ...(target === undefined ? [] : [target])].map((one) => toWireName(one));
    const asking = { client, name: names[0], target: names.at(1) ?? null, qtype, atMs };
    const { rows, revision, catalogue } = await this.read(client, names);
    const entities = entitiesOf(rows, client.family).map((one) => withoutSecret(one, catalogue));
    const outcome = resolver.ask(entities, catalogue, asking);
    const { explanation, rewrite, verdict, judged } = outcome;
    const judgedName = formatName(judged, 0);
    const { profileId, reason, matchedLabels } = explanation.decision;
    // Nobody is told which name a secret category denies.
    const isSecret = isOfOrders(reason) && matchedLabels === 0;
    const hasFlip = profileId >= 0 && !isOfOrders(reason) && outcome.special === null;
    const domainHash = hashDomain(domain, hashKey);
    const calls = hasFlip
      ? possibleCalls({ domain, domainHash, catalogue, entities, outcome })
      : [];
    const flip = calls.find(
      (one) => resolver.ask(one.entities, catalogue, asking).verdict !== verdict,
    );
    const listing = await this.listingOf(outcome);
    return {
      client: {
        address: addressText(client),
        port: client.port === UNKNOWN_PORT ? null : client.port,
      },
      domain,
      type: formatType(qtype),
      at: timeText(atMs),
      revision,
      subscriber: subscriberDto(rows, client.family, explanation.subscriber),
      profile: profileDto(explanation),
      steps: stepsOf(outcome, judgedName, catalogue, listing),
      verdict,
      rewrite: rewrite === null ? null : formatName(rewrite, 0),
      target: judged === asking.target && !isSecret ? judgedName : null,
      targets_judged: outcome.areTargetsJudged,
      answer: outcome.answer,
      since: await originOf(this.pool, revision, outcome),
      flip: flip?.call ?? null,
    };
  }

  /** What decides about a name, the first one, and about where safe search sends it: others that are to be read for. */
  private async read(client: Client, names: readonly Uint8Array[]): Promise<Situation> {
    const { reader, image, hashKey } = this;
    const suffixes = names.map((one) => hashesOf(one, hashKey));
    const hashes = suffixes.flatMap(({ count, low, high }) =>
      Array.from({ length: count }, (_, i) => cutHash(low[i], high[i])),
    );
    const { result, revision } = await reader.read(
      subscriberRows(client, addressText(client), hashes),
      ([rows]: SubscriberRows[], head) => ({ rows, head }),
    );
    const catalogue = await image.at(result.head);
    const others = (catalogue?.rewritesOf(suffixes[0]) ?? [])
      .map(({ target }) => target)
      .filter((target) => !names.some((one) => Buffer.compare(one, target) === 0));
    if (others.length > 0) return this.read(client, [...names, ...others]);
    return { rows: result.rows, revision, catalogue };
  }

  /** What brings the name into the category that matched; undefined: none did, or the lists have changed since. */
  private async listingOf({ explanation, hashes }: QueryOutcome): Promise<ListedName | undefined> {
    const { steps } = explanation;
    const step = steps.find((one) => one.step === Reason.category && one.verdict !== 0);
    if (step === undefined) return undefined;
    const { low, high } = hashes;
    const { matchedLabels: count, matchedId } = step;
    const listed = await findListed(this.pool, { low, high, count }, matchedId);
    return listed.find(({ labels }) => labels === count);
  }
}

/** The catalogue image in force, read when it is first needed. */
class ActiveImage {
  private loaded: { readonly version: string; readonly image: Promise<CatalogueImage> } | null =
    null;

  constructor(
    private readonly pool: Pool,
    private readonly key: HashKey,
  ) {}

  /** @returns null while there is no catalogue. */
  async at({ lineage, catalogueVersion }: ConfigurationHead): Promise<CatalogueImage | null> {
    if (catalogueVersion === null) return null;
    const version = `${lineage} ${catalogueVersion}`;
    if (this.loaded?.version === version) return this.loaded.image;
    const image = this.load(catalogueVersion);
    this.loaded = { version, image };
    image.catch(() => {
      if (this.loaded?.image === image) this.loaded = null;
    });
    return image;
  }

  private async load(version: number): Promise<CatalogueImage> {
    const bytes = await readImage(this.pool, version);
    if (bytes === null) throw new Error(`catalogue ${version} is active but not stored`);
    return CatalogueImage.open(bytes, this.key);
  }
}

/** Validation has seen that client and domain are there. */
function askedIn({ client: address = '', domain = '', port, at }: ExplainQuery): Incident {
  const client = new ClientAddress();
  client.set(address, port ?? UNKNOWN_PORT);
  return { client, domain, atMs: at === undefined ? Date.now() : parseTime(at) };
}

/**
 * A profile that blocks a secret category changes nothing: everybody is denied its names before. But of the categories
 * that list a name the one with the lowest id is shown, and where it is missing, that would tell which one is secret.
 */
function withoutSecret(operation: PutOperation, catalogue: CatalogueIndex | null): PutOperation {
  if (operation.kind !== 'profile') return operation;
  const { entity } = operation;
  const isShown = (id: number): boolean => catalogue?.category(id)?.secret !== true;
  return { ...operation, entity: { ...entity, categoryIds: entity.categoryIds.filter(isShown) } };
}

function hashesOf(name: Uint8Array, key: HashKey): SuffixHashes {
  const hashes = new SuffixHashes(key);
  hashes.compute(name, 0);
  return hashes;
}

function addressText({ family, words: [a, b, c, d] }: Client): string {
  return family === 4 ? formatIpv4(a) : formatIpv6([a, b, c, d]);
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

const orNull = (ms: number | null): string | null => (ms === null ? null : timeText(ms));

function profileDto({
  decision,
  period,
  nextSwitchMs,
}: Explanation): Json<ExplainedProfileDto> | null {
  if (decision.profileId < 0) return null;
  return {
    id: decision.profileId,
    active_id: decision.activeProfileId,
    schedule: period && {
      target_profile_id: period.targetProfileId,
      since: orNull(period.sinceMs),
      until: orNull(period.untilMs),
    },
    next_switch: orNull(nextSwitchMs),
  };
}
