import {
  Body,
  Controller,
  Inject,
  Module,
  type OnApplicationShutdown,
  Query,
  Res,
} from '@nestjs/common';
import { parseHashKey } from '@weir/dns-name';
import { RequestError } from '../http/errors/errors.js';
import { HeldBodies } from '../http/pipeline/body-stream.js';
import { ApiEndpoint } from '../http/routing/endpoint.js';
import type { Response } from '../http/routing/http.js';
import { PROCESS, type Process } from '../process.js';
import { readApplications } from '../resources/applications/active-applications.js';
import { ConfigurationReader } from '../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../revisions/configuration-writer.js';
import { WithRevision } from '../revisions/with-revision.js';
import { DryRunDto, InitDto, InitQuery } from './read/init.dto.js';
import { InitThread, type RemoteSteps } from './thread/init-thread.js';

/** Replaces the whole configuration with a submitted one. */
@Controller()
export class InitController implements OnApplicationShutdown {
  private readonly bodies: HeldBodies;
  private readonly thread: InitThread;
  /** Of dry runs, which delay no replacement: this holds the lock of all changes while it is loaded. */
  private readonly dryRunBodies: HeldBodies;
  private readonly dryRunThread: InitThread;
  private isDryRunning = false;

  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
    @Inject(PROCESS) { configuration }: Process,
  ) {
    const { DATABASE_URL: databaseUrl, MANAGEMENT_BODY_LIMIT: limitBytes } = configuration;
    const settings = { databaseUrl, hashKey: parseHashKey(configuration.DOMAIN_HASH_KEY) };
    this.bodies = new HeldBodies(limitBytes);
    this.thread = new InitThread(settings);
    this.dryRunBodies = new HeldBodies(limitBytes);
    this.dryRunThread = new InitThread(settings);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.thread.end(), this.dryRunThread.end()]);
  }

  @ApiEndpoint('POST /init/', {
    scope: 'replace',
    query: InitQuery,
    streamed: InitDto,
    dryRun: DryRunDto,
    summary: 'Replaces the whole configuration',
  })
  init(
    @Body() body: AsyncIterable<Uint8Array>,
    @Query() { dry_run: isDryRun }: InitQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<WithRevision<DryRunDto> | WithRevision<void>> {
    if (!isDryRun) return this.replace(body);
    response.status(200);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    return this.dryRun(body, gone.signal);
  }

  /** It waits for other changes only when the body is there and has been checked. */
  private replace(body: AsyncIterable<Uint8Array>): Promise<WithRevision<void>> {
    return this.bodies.hold(body, (counted) =>
      this.thread.use(async (steps) => {
        await this.read(steps, counted);
        await this.check(steps);
        return this.writer.replace(steps);
      }),
    );
  }

  /**
   * What a replacement would change. One is made at a time; one whose body is on its way delays no other one. Its bytes
   * count apart from those of replacements, which it does not delay either.
   * @param gone aborts when nobody waits for the result any more.
   * @throws RequestError 503 while another one is made.
   */
  private dryRun(
    body: AsyncIterable<Uint8Array>,
    gone: AbortSignal,
  ): Promise<WithRevision<DryRunDto>> {
    return this.dryRunBodies.hold(body, (counted) =>
      this.dryRunThread.use(async (steps) => {
        await this.read(steps, counted);
        if (this.isDryRunning) {
          const detail = 'Another dry run is being made. Try again when it has ended';
          throw new RequestError('tooManyBodies', detail, { 'Retry-After': '1' });
        }
        // The client may have gone with the last bytes of the body.
        if (gone.aborted) throw new RequestError('notJson');
        this.isDryRunning = true;
        // It ends the work wherever it is. The thread may end meanwhile.
        gone.onabort = () => void steps.close().catch(() => undefined);
        try {
          await this.check(steps);
          const result = await steps.compare();
          return new WithRevision(result, result.revision);
        } catch (error) {
          throw gone.aborted ? new RequestError('notJson') : error;
        } finally {
          gone.onabort = null;
          this.isDryRunning = false;
        }
      }),
    );
  }

  private async read(steps: RemoteSteps, body: AsyncIterable<Uint8Array>): Promise<void> {
    let goesOn = true;
    // Also of a faulty body: one that is too large gets 413 first.
    for await (const bytes of body) {
      // A copy of its own: only the whole memory behind the bytes could be passed on.
      if (goesOn) goesOn = await steps.push(Uint8Array.from(bytes));
    }
  }

  private async check(steps: RemoteSteps): Promise<void> {
    await steps.check((await readApplications(this.reader)).result);
  }
}

@Module({ controllers: [InitController] })
export class InitModule {}
