import { EventEmitter } from 'node:events';
import { text } from 'node:stream/consumers';
import type { StreamableFile } from '@nestjs/common';
import { expect, it } from 'vitest';
import type { Request, Response } from '../http/routing/http.js';
import { ChangesQuery } from './change.dto.js';
import type { ChangeRecords } from './change-records.js';
import { ChangesController } from './changes.module.js';

it('ends a stream that is being opened when a stop begins', async () => {
  const read = Promise.withResolvers<object>();
  const controller = new ChangesController(
    { find: () => read.promise } as unknown as ChangeRecords,
    { stallMs: 600_000, tokens: () => [] } as never,
    { publisher: {} } as never,
  );
  const context = { caller: null, source: null };
  const request = { method: 'GET', headers: {}, context, accepts: () => 'text/event-stream' };
  const answer = controller.read(
    new ChangesQuery(),
    request as unknown as Request,
    new EventEmitter() as Response,
  );
  controller.onModuleDestroy();
  read.resolve({ revision: 1, result: { records: [], lineage: 'one' } });
  expect(await text(((await answer) as StreamableFile).getStream())).toBe('retry: 2000\n\n');
});
