import type { ChangePublisher, PublishedChange } from '@weir/change-feed';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { RecordedSpan } from '../testing/recorded-spans.js';
import { ChangeTrace } from './change-record.js';
import { Propagation } from './propagation.js';

const change = (revision: number): PublishedChange => {
  return { lineage: 'log', revision, digest: '0123456789abcdef', operations: [] };
};

describe('ChangeTrace', () => {
  it('is none for a call that is not traced', () => {
    expect(ChangeTrace.begin(null)).toBeNull();
  });

  it('has one open step at a time, which ends once', () => {
    const said: string[] = [];
    const trace = ChangeTrace.begin(new RecordedSpan('call', said));
    trace?.beginTransaction(null);
    trace?.endTransaction(1);
    trace?.fail();
    expect(said).toEqual([
      'call begins',
      'call change.queue begins',
      'call change.queue ends',
      'call change.transaction begins',
      'call change.transaction ends 1',
    ]);
  });

  it('fails in the step that fails', () => {
    const said: string[] = [];
    ChangeTrace.begin(new RecordedSpan('call', said))?.fail();
    expect(said.at(-1)).toBe('call change.queue fails');
  });
});

describe('Propagation', () => {
  it('publishes a traced change with its trace, and any other as it is', async () => {
    const said: string[] = [];
    const trace = ChangeTrace.begin(new RecordedSpan('call', said));
    const published: PublishedChange[] = [];
    const committed = [
      { change: change(1), trace },
      { change: change(2), trace: null },
    ];
    const publisher = {
      publish: (changes: readonly PublishedChange[]) =>
        Promise.resolve(void published.push(...changes)),
      waitApplied: () => Promise.resolve({ applied: 1, total: 2 }),
    } as unknown as ChangePublisher;
    const applied = await new Propagation(new Registry(), publisher).propagate(committed, 1_000);
    expect(applied).toEqual({ applied: 1, total: 2 });
    expect(published).toEqual([
      { ...change(1), traceparent: 'traceparent of call change.publish' },
      change(2),
    ]);
    expect(said.slice(2)).toEqual([
      'call change.publish begins',
      'call change.acknowledgements begins',
      'call change.publish ends',
      'call change.acknowledgements ends 1 2',
    ]);
    expect(committed[0]?.change).not.toHaveProperty('traceparent');
  });
});
