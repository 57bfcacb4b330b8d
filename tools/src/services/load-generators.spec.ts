import { describe, expect, it } from 'vitest';
import { readDnsperf, readH2load } from './load-generators.js';

const DNSPERF = `DNS Performance Testing Tool
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

describe('readDnsperf', () => {
  it('reads counts, errors and the percentiles of the latencies', () => {
    expect(readDnsperf(DNSPERF)).toEqual({
      sent: 4,
      answered: 3,
      perSecond: 1.5,
      errors: 1,
      p50Ms: 0.3,
      p99Ms: 2,
    });
  });

  it('refuses an output that is not a report', () => {
    expect(() => readDnsperf('dnsperf: cannot bind')).toThrow(/Queries completed/);
  });
});

const H2LOAD = `starting benchmark...
Application protocol: h2

finished in 2.01s, 5608.50 req/s, 465.71KB/s
requests: 11220 total, 11377 started, 11220 done, 11217 succeeded, 3 failed, 0 errored, 0 timeout
status codes: 11219 2xx, 0 3xx, 2 4xx, 1 5xx
traffic: 931.42KB (953773) total, 76.81KB (78655) headers (space savings 88.50%), 657.25KB (673020) data
                     min         max         mean         sd        +/- sd
time for request:      448us    333.94ms     23.77ms     52.64ms    90.55%
`;
const LOG = ['1000\t200\t100', '1001\t200\t300', '1002\t200\t2000', ''].join('\n');

describe('readH2load', () => {
  it('reads counts, errors by the size of the answers, and the percentiles of the latencies', () => {
    expect(readH2load(H2LOAD, LOG, 60)).toEqual({
      sent: 11_220,
      answered: 11_217,
      perSecond: 5_608.5,
      errors: 0,
      p50Ms: 0.3,
      p99Ms: 2,
    });
    expect(readH2load(H2LOAD, LOG, 30).errors).toBe(11_217);
  });

  it('refuses an output that is not a report', () => {
    expect(() => readH2load('invalid URI', '', 60)).toThrow(/requests/);
  });
});
