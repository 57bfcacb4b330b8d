import { describe, expect, it } from 'vitest';
import { readHttpsReport } from './h2load.js';

const REPORT = `starting benchmark...
Application protocol: h2

finished in 2.01s, 5608.50 req/s, 465.71KB/s
requests: 11220 total, 11377 started, 11220 done, 11217 succeeded, 3 failed, 0 errored, 0 timeout
status codes: 11219 2xx, 0 3xx, 2 4xx, 1 5xx
traffic: 931.42KB (953773) total, 76.81KB (78655) headers (space savings 88.50%), 657.25KB (673020) data
                     min         max         mean         sd        +/- sd
time for request:      448us    333.94ms     23.77ms     52.64ms    90.55%
`;

const LOG = ['1000\t200\t100', '1001\t200\t300', '1002\t200\t2000', ''].join('\n');

describe('readHttpsReport', () => {
  it('reads counts, the size of the answers and the percentiles of the latencies', () => {
    expect(readHttpsReport(REPORT, LOG)).toEqual({
      sent: 11_220,
      answered: 11_217,
      perSecond: 5_608.5,
      bodyBytes: 673_020,
      p50Ms: 0.3,
      p99Ms: 2,
    });
  });

  it('refuses an output that is not a report', () => {
    expect(() => readHttpsReport('invalid URI', '')).toThrow(/requests/);
  });
});
