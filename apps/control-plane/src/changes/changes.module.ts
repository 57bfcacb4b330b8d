import {
  Controller,
  Inject,
  Module,
  type OnModuleDestroy,
  Query,
  Req,
  Res,
  StreamableFile,
} from '@nestjs/common';
import { Readable } from 'node:stream';
import { checkToken } from '../http/callers/tokens.js';
import { RequestError } from '../http/errors/errors.js';
import { EVENTS } from '../http/pipeline/begin-request.js';
import { ReadingEndpoint } from '../http/routing/endpoint.js';
import type { Request, Response } from '../http/routing/http.js';
import type { Json } from '../http/validation/dto.js';
import { throwIfFaults } from '../http/validation/fault.js';
import { PROCESS, type Process } from '../process.js';
import { Propagation } from '../revisions/propagation.js';
import { ChangesDto, ChangesQuery, toDto } from './change.dto.js';
import { ChangeRecords, type RecordFilter, type RecordPlace } from './change-records.js';
import { ChangeStream } from './change-stream.js';

/** Streams at a time, of all tokens and of one. */
const MAX_STREAMS = 64;
const MAX_STREAMS_OF_TOKEN = 16;
const MAX_HEARTBEAT_MS = 15_000;
/** At a stop, a client that does not read is waited for no longer. */
const STOP_DEADLINE_MS = 1_000;

const TOO_MANY_STREAMS = 'Too many streams of changes are open. Try again when one has ended';

@Controller()
export class ChangesController implements OnModuleDestroy {
  private readonly streams = new Map<ChangeStream, Response>();
  /** The name of the token of each stream. */
  private readonly owners: string[] = [];
  private isStopping = false;

  constructor(
    private readonly records: ChangeRecords,
    @Inject(PROCESS) private readonly process: Process,
    { publisher }: Propagation,
  ) {
    publisher.onRevision = (revision) => {
      for (const stream of this.streams.keys()) stream.onRevision(revision);
    };
  }

  @ReadingEndpoint('GET /changes/', {
    query: ChangesQuery,
    answer: ChangesDto,
    streams: true,
    summary: 'Who changed what, oldest first; as a stream of events it goes on as changes come',
  })
  async read(
    @Query() query: ChangesQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Json<ChangesDto> | StreamableFile> {
    const { after, limit, last } = query;
    const place = last === undefined ? { after } : 'newest';
    if (request.accepts(['application/json', EVENTS]) === EVENTS && request.method === 'GET') {
      return this.stream(query, lastEventOf(request) ?? place, request, response);
    }
    const { records } = (await this.records.find(filterOf(query), place, last ?? limit)).result;
    return { changes: records.map(toDto), next: records.at(-1)?.revision ?? after };
  }

  private async stream(
    query: ChangesQuery,
    place: RecordPlace,
    request: Request,
    response: Response,
  ): Promise<StreamableFile> {
    this.count(request, response);
    const { caller, source } = request.context;
    const { configuration, tokens } = this.process;
    const stream = await ChangeStream.open(this.records, {
      filter: filterOf(query),
      place,
      last: query.last,
      // A connection without traffic is closed after MANAGEMENT_STALL_S.
      heartbeatMs: Math.min(MAX_HEARTBEAT_MS, configuration.MANAGEMENT_STALL_S * 500),
      isAllowed: () => {
        const { authorization } = request.headers;
        const check = checkToken(tokens.value, authorization, source?.address ?? null, Date.now());
        return check.caller?.name === caller?.name;
      },
    });
    this.streams.set(stream, response);
    const close = (): void => {
      stream.end();
      this.streams.delete(stream);
    };
    if (response.closed || this.isStopping) close();
    else response.once('close', close);
    return new StreamableFile(Readable.from(stream.text(), { objectMode: false }), {
      type: EVENTS,
    });
  }

  /** @throws RequestError 429 when there are too many. */
  private count({ context }: Request, response: Response): void {
    const name = context.caller?.name ?? '';
    const own = this.owners.filter((owner) => owner === name).length;
    if (this.owners.length >= MAX_STREAMS || own >= MAX_STREAMS_OF_TOKEN) {
      throw new RequestError('tooManyCalls', TOO_MANY_STREAMS, { 'Retry-After': '1' });
    }
    this.owners.push(name);
    response.once('close', () => this.owners.splice(this.owners.indexOf(name), 1));
  }

  /** A stop begins, which does not wait for the streams. */
  onModuleDestroy(): void {
    this.isStopping = true;
    for (const [stream, response] of this.streams) {
      stream.end();
      setTimeout(() => response.destroy(), STOP_DEADLINE_MS).unref();
    }
  }
}

function filterOf({ profile_id: profileId, token }: ChangesQuery): RecordFilter {
  return { profileId, token };
}

/** Where a stream that broke off goes on. @throws InvalidRequestError */
function lastEventOf({ headers }: Request): { readonly after: number } | null {
  const id = headers['last-event-id'];
  if (id === undefined || id === '') return null;
  const isRevision = typeof id === 'string' && /^\d{1,15}$/.test(id);
  const msg = 'Last-Event-ID, which goes before it, must be a revision';
  throwIfFaults(isRevision ? [] : [{ loc: ['query', 'after'], msg, type: 'int_type' }]);
  return { after: Number(id) };
}

@Module({ controllers: [ChangesController], providers: [ChangeRecords] })
export class ChangesModule {}
