import { EventEmitter } from 'node:events';
import { text } from 'node:stream/consumers';
import type { StreamableFile } from '@nestjs/common';
import { expect, it } from 'vitest';
import type { Request, Response } from '../http/routing/http.js';
import type { ConfigurationReader } from '../revisions/configuration-reader.js';
import { ChangesQuery } from './change.dto.js';
import { ChangeRecords } from './change-records.js';
import { ChangesController } from './changes.module.js';

it('ends a stream that is being opened when a stop begins', async () => {
  const read = Promise.withResolvers<object>();
  const controller = new ChangesController(
    { find: () => read.promise } as unknown as ChangeRecords,
    { configuration: { MANAGEMENT_STALL_S: 600 }, tokens: { all: () => [] } } as never,
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

it('lets one stream read after the other, and those that wait for one that fails fail with it', async () => {
  const reads: PromiseWithResolvers<unknown>[] = [];
  const read = () => {
    reads.push(Promise.withResolvers());
    return reads.at(-1)?.promise;
  };
  const records = new ChangeRecords({ read } as unknown as ConfigurationReader);
  const find = () => records.findForStream({}, 'newest', 1);
  const [first, second, third] = [find(), find(), find()];
  await expect.poll(() => reads).toHaveLength(1);
  reads[0].resolve('found');
  expect(await first).toBe('found');
  await expect.poll(() => reads).toHaveLength(2);
  reads[1].reject(new Error('lost'));
  await expect(second).rejects.toThrow('lost');
  await expect(third).rejects.toThrow('lost');
  const fourth = find();
  await expect.poll(() => reads).toHaveLength(3);
  reads[2].resolve('again');
  expect(await fourth).toBe('again');
});
