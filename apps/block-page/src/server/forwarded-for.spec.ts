import { ClientAddress, UNKNOWN_PORT } from '@weir/clients';
import { parseCidrs } from '@weir/ops';
import { describe, expect, it } from 'vitest';
import { followForwardedFor } from './page-handler.js';

const trusted = parseCidrs(['127.0.0.1', '10.0.0.0/8', '2001:db8:a::/48']);

function follow(sender: string, header: string | undefined) {
  const client = new ClientAddress();
  client.set(sender, 4000);
  if (!followForwardedFor(client, header, trusted)) return null;
  return [client.family, client.words[client.family === 4 ? 0 : 3], client.port];
}

const V4 = 0xc000_0201;

describe('followForwardedFor', () => {
  it.each([
    ['127.0.0.1', '192.0.2.1', [4, V4, UNKNOWN_PORT]],
    ['127.0.0.1', '192.0.2.1:1234', [4, V4, 1234]],
    ['127.0.0.1', '[2001:db8::5]:99', [6, 5, 99]],
    ['127.0.0.1', '[2001:db8::5]', [6, 5, UNKNOWN_PORT]],
    ['127.0.0.1', '2001:db8::5', [6, 5, UNKNOWN_PORT]],
    ['127.0.0.1', '::ffff:192.0.2.1', [4, V4, UNKNOWN_PORT]],
    ['127.0.0.1', '192.0.2.9, 192.0.2.1, 10.1.1.1', [4, V4, UNKNOWN_PORT]],
    ['127.0.0.1', '192.0.2.1,2001:db8:a::1 ', [4, V4, UNKNOWN_PORT]],
    ['192.0.2.1', '192.0.2.9', [4, V4, 4000]],
    ['127.0.0.1', undefined, [4, 0x7f00_0001, 4000]],
    ['127.0.0.1', '10.0.0.1', [4, 0x0a00_0001, UNKNOWN_PORT]],
    ['127.0.0.1', 'junk, 192.0.2.1', [4, V4, UNKNOWN_PORT]],
    ['127.0.0.1', '192.0.2.1, junk', null],
    ['127.0.0.1', '', [4, 0x7f00_0001, 4000]],
    ['127.0.0.1', '192.0.2.1, ,', [4, V4, UNKNOWN_PORT]],
    ['127.0.0.1', '192.0.2.1:99999', null],
    ['127.0.0.1', '192.0.2.1:', null],
    ['127.0.0.1', '192.0.2.256', null],
    ['127.0.0.1', '[192.0.2.1', null],
  ])('from %s with %j comes to %j', (sender, header, visitor) => {
    expect(follow(sender, header)).toEqual(visitor);
  });
});
