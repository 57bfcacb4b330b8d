import { Reason, Verdict } from '@weir/policy';
import { describe, expect, it } from 'vitest';
import { DropReason, Transport } from '../query/exchange.js';
import { NO_VERDICT, QueryCounters } from './query-counters.js';

describe('QueryCounters', () => {
  it('counts by transport, type, verdict, reason and RCODE', () => {
    const counters = new QueryCounters();
    counters.answered(Transport.udp, 1, Verdict.block, Reason.whiteListOnly, 0);
    counters.answered(Transport.udp, 1, Verdict.block, Reason.whiteListOnly, 0);
    counters.answered(Transport.tcp, 255, Verdict.unfiltered, Reason.noProfile, 5);
    counters.answered(Transport.tcp, 0xffff, NO_VERDICT, Reason.none, 16);
    counters.answered(Transport.tcp, 99, Verdict.permit, Reason.none, 3);
    expect([...counters.answeredCounts()]).toEqual([
      [
        {
          transport: 'udp',
          type: 'A',
          verdict: 'block',
          reason: 'white_list_only',
          rcode: 'NOERROR',
        },
        2,
      ],
      [
        { transport: 'tcp', type: 'other', verdict: 'permit', reason: 'none', rcode: 'NXDOMAIN' },
        1,
      ],
      [{ transport: 'tcp', type: 'other', verdict: 'none', reason: 'none', rcode: 'BADVERS' }, 1],
      [
        {
          transport: 'tcp',
          type: 'ANY',
          verdict: 'unfiltered',
          reason: 'no_profile',
          rcode: 'REFUSED',
        },
        1,
      ],
    ]);
  });

  it('counts packets without an answer', () => {
    const counters = new QueryCounters();
    counters.drop(DropReason.draining);
    expect(counters.droppedCounts()).toContainEqual([{ why: 'draining' }, 1]);
    expect(counters.droppedCounts()).toContainEqual([{ why: 'malformed' }, 0]);
  });
});
