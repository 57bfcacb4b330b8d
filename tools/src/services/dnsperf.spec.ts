import { describe, expect, it } from 'vitest';
import { readReport } from './dnsperf.js';

const REPORT = `DNS Performance Testing Tool
> NOERROR www.site-1.example A 0.000100
> NOERROR www.site-2.example A 0.000300
> SERVFAIL www.site-3.example A 0.002000
[Timeout] Query timed out: msg id 5

Statistics:

  Queries sent:         4
  Queries completed:    3 (75.00%)
  Queries lost:         1 (25.00%)

  Response codes:       NOERROR 2 (66.67%), SERVFAIL 1 (33.33%)
  Average packet size:  request 36, response 52
  Run time (s):         2.000000
  Queries per second:   1.500000
`;

describe('readReport', () => {
  it('reads counts, RCODEs and the percentiles of the latencies', () => {
    expect(readReport(REPORT)).toEqual({
      sent: 4,
      answered: 3,
      perSecond: 1.5,
      rcodes: { NOERROR: 2, SERVFAIL: 1 },
      p50Ms: 0.3,
      p99Ms: 2,
    });
  });

  it('refuses an output that is not a report', () => {
    expect(() => readReport('dnsperf: cannot bind')).toThrow(/Queries sent/);
  });
});
