import { Body, Controller, Injectable, Module } from '@nestjs/common';
import { HeldBodies } from '../http/pipeline/held-bodies.js';
import { ApiEndpoint } from '../http/routing/endpoint.js';
import { readApplications } from '../resources/applications/active-catalogue-reader.js';
import { ConfigurationReader } from '../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../revisions/configuration-writer.js';
import type { WithRevision } from '../revisions/with-revision.js';
import { InitDto } from './read/init.dto.js';
import { InitThread } from './thread/init-thread.js';

/** Replaces the whole configuration with a submitted one. */
@Injectable()
export class InitService {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
    private readonly bodies: HeldBodies,
    private readonly thread: InitThread,
  ) {}

  /** It waits for other changes only when the body is there and has been checked. */
  replace(body: AsyncIterable<Uint8Array>): Promise<WithRevision<void>> {
    return this.bodies.hold(body, (counted) =>
      this.thread.use(async (steps) => {
        let goesOn = true;
        // Also of a faulty body: one that is too large gets 413 first.
        for await (const bytes of counted) {
          // A copy of its own: only the whole memory behind the bytes could be passed on.
          if (goesOn) goesOn = await steps.push(Uint8Array.from(bytes));
        }
        await steps.check((await readApplications(this.reader)).result);
        return this.writer.replace(steps);
      }),
    );
  }
}

@Controller()
export class InitController {
  constructor(private readonly init: InitService) {}

  @ApiEndpoint('POST /init/', {
    scope: 'replace',
    streamed: InitDto,
    summary: 'Replaces the whole configuration',
  })
  replace(@Body() body: AsyncIterable<Uint8Array>): Promise<WithRevision<void>> {
    return this.init.replace(body);
  }
}

@Module({ controllers: [InitController], providers: [InitService] })
export class InitModule {}
