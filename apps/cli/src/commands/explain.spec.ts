import { expect, it } from 'vitest';
import { parseClient } from './explain.js';

it.each([
  ['192.0.2.1', { client: '192.0.2.1' }],
  ['192.0.2.1:4000', { client: '192.0.2.1', port: 4000 }],
  ['2001:db8::1', { client: '2001:db8::1' }],
  ['[2001:db8::1]', { client: '2001:db8::1' }],
  ['[2001:db8::1]:0', { client: '2001:db8::1', port: 0 }],
  ['192.0.2.1:65536', null],
  ['192.0.2.1:', null],
  ['[192.0.2.1]:53', null],
  ['2001:db8::1]:53', null],
  ['192.0.2', null],
  ['client.example', null],
])('reads the client %s', (text, client) => {
  expect(parseClient(text)).toEqual(client);
});
