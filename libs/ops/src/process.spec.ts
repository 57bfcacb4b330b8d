import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { explainListenError, listen } from './process.js';

describe('a server that cannot listen', () => {
  it.each([
    ['OPS_PORT', 'OPS_HOST'],
    ['DNS_TLS_PORT', 'DNS_HOST'],
    ['BLOCK_PAGE_HTTPS_PORT', 'BLOCK_PAGE_HOST'],
  ])('because of its address names the variable of the address: %s, %s', async (variable, host) => {
    const place = { host: '192.0.2.1', port: 0, variable };
    await expect(listen(createServer(), place)).rejects.toThrow(
      `192.0.2.1:0 is not an address of this machine (${host})`,
    );
  });

  it('because the machine has no IPv6 says so', () => {
    const error = Object.assign(new Error('socket: EAFNOSUPPORT'), { code: 'EAFNOSUPPORT' });
    expect(explainListenError(error, { host: '::', port: 53, variable: 'DNS_PORT' })).toMatchObject(
      {
        name: 'StartError',
        message: '[::]:53 is IPv6, which this machine does not have (DNS_HOST)',
      },
    );
  });
});
