import fc from 'fast-check';
import { expect, it } from 'vitest';
import { messageFilter } from './proxies.js';

const MESSAGE = '>3\r\n$7\r\nmessage\r\n$4\r\nweir\r\n$3\r\nabc\r\n';
const OTHERS = [
  '+OK\r\n',
  '-ERR no\r\n',
  ':7\r\n',
  '_\r\n',
  '$-1\r\n',
  '$0\r\n\r\n',
  '$3\r\na*3\r\n',
  '*-1\r\n',
  '$7\r\nmessage\r\n',
  '*2\r\n$1\r\na\r\n*1\r\n:1\r\n',
  '%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n',
  '>3\r\n$9\r\nsubscribe\r\n$4\r\nweir\r\n:1\r\n',
];

it('messageFilter replaces pub/sub messages of both protocol versions, and nothing else, in any chunks', () => {
  const frames = fc.array(fc.constantFrom(MESSAGE, MESSAGE.replace('>', '*'), ...OTHERS));
  const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 });
  fc.assert(
    fc.property(frames, cuts, (sent, sizes) => {
      const bytes = Buffer.from(sent.join(''));
      const filter = messageFilter((message) => message.repeat(2));
      let found = '';
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const end = at + sizes[i % sizes.length];
        found += filter(bytes.subarray(at, end)).toString();
        at = end;
      }
      const twice = sent.map((frame) => frame.repeat(/^.3\r\n\$7/.test(frame) ? 2 : 1));
      expect(found).toBe(twice.join(''));
    }),
  );
});
