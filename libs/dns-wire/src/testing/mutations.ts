import fc from 'fast-check';
import { concat, encodeMessage, opt, option, pointerTo, type TestMessage } from './message.js';

/** A label of letters, digits and a few bytes that are special elsewhere. */
const label = fc
  .array(fc.constantFrom(...Buffer.from('aAbzZ09-_.\\\0\xff', 'latin1')), {
    minLength: 1,
    maxLength: 63,
  })
  .map((bytes) => Uint8Array.of(bytes.length, ...bytes));

/** Wire names of all lengths, some beyond the limit of 255 bytes, some ending in a pointer or a reserved label type. */
const name = fc
  .tuple(
    fc.array(label, { maxLength: 6 }),
    fc.oneof(
      { weight: 12, arbitrary: fc.constant(Uint8Array.of(0)) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 0x3fff }).map(pointerTo) },
      { weight: 1, arbitrary: fc.constant(pointerTo(12)) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(0x40, 0x80, 0xbf).map((byte) => Uint8Array.of(byte)),
      },
    ),
  )
  .map(([labels, end]) => concat(...labels, end));

const qtype = fc.constantFrom(0, 1, 5, 28, 41, 65, 128, 250, 251, 252, 255, 256);

const anyOption = fc
  .tuple(
    fc.constantFrom(3, 8, 12, 15),
    fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 8 }),
  )
  .map(([code, data]) => option(code, data));

/** Of valid lengths and sometimes of others. */
const cookieOption = fc
  .tuple(fc.constantFrom(8, 8, 8, 16, 24, 24, 24, 40, 7, 9, 41), fc.nat(255))
  .map(([size, byte]) => option(10, new Array<number>(size).fill(byte)));

const options = fc
  .array(fc.oneof(anyOption, cookieOption), { maxLength: 3 })
  .map((all) => concat(...all));

const optRecord = fc
  .tuple(
    fc.constantFrom(0, 511, 512, 1232, 1233, 4096, 65535),
    fc.constantFrom(0, 0x8000, 0x0001_0000, 0x00ff_8000, 0x0100_0000),
    options,
  )
  .map(([size, ttl, rdata]) => opt(size, ttl, rdata));

/** Rdata of which every name points somewhere: CNAME, HTTPS with TargetName, or plain bytes. */
const record = fc
  .tuple(
    fc.oneof({ weight: 3, arbitrary: fc.constant(pointerTo(12)) }, { weight: 1, arbitrary: name }),
    fc.constantFrom(1, 5, 5, 16, 28, 64, 65),
    fc.constantFrom(0, 1, 59, 60, 61, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff),
    fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      name,
      name.map((target) => concat([0, 1], target)),
    ),
  )
  .map(([owner, type, ttl, rdata]) => ({ owner, type, ttl, rdata }));

const sparse = <T>(item: fc.Arbitrary<T>) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<T[]>([]) },
    { weight: 1, arbitrary: fc.array(item, { maxLength: 3 }) },
  );

const question = fc.record({ qname: name, qtype, qclass: fc.constantFrom(0, 1, 3, 255) });

/** Queries as clients send them, and slightly different ones. */
export const queryMessage: fc.Arbitrary<TestMessage> = fc.record({
  id: fc.integer({ min: 0, max: 0xffff }),
  flags: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(0, 0x0100, 0x0110, 0x0120, 0x0130) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 0xffff }) },
  ),
  questions: fc.oneof(
    { weight: 9, arbitrary: fc.tuple(question) },
    { weight: 1, arbitrary: fc.array(question, { maxLength: 2 }) },
  ),
  answers: sparse(record),
  authorities: sparse(record),
  additionals: fc
    .tuple(sparse(record), fc.array(optRecord, { maxLength: 2 }), sparse(record))
    .map((parts) => parts.flat()),
});

/** Responses as upstream resolvers send them, and slightly different ones. */
export const responseMessage: fc.Arbitrary<TestMessage> = fc.record({
  id: fc.integer({ min: 0, max: 0xffff }),
  flags: fc.constantFrom(0x8000, 0x8180, 0x8183, 0x8380, 0x85a2, 0x0100, 0x9000),
  questions: fc.tuple(question),
  answers: fc.array(record, { maxLength: 4 }),
  authorities: sparse(record),
  additionals: fc
    .tuple(sparse(record), fc.array(optRecord, { maxLength: 2 }), sparse(record))
    .map((parts) => parts.flat()),
});

/** Damage to an encoded message. */
const mutation = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat(400) }),
  fc.record({ kind: fc.constant('append' as const), bytes: fc.uint8Array({ maxLength: 30 }) }),
  fc.record({ kind: fc.constant('set' as const), at: fc.nat(400), byte: fc.nat(255) }),
  fc.record({
    kind: fc.constant('count' as const),
    section: fc.nat(3),
    count: fc.constantFrom(0, 1, 2, 9, 65535),
  }),
  fc.record({ kind: fc.constant('pointer' as const), at: fc.nat(400), to: fc.nat(400) }),
  fc.record({ kind: fc.constant('repeat' as const), from: fc.nat(400), length: fc.nat(40) }),
);

/** Changes to a message: half of the time none, else damage in up to three places. */
export const damage: fc.Arbitrary<(bytes: Uint8Array) => Uint8Array> = fc
  .tuple(fc.array(mutation, { maxLength: 3 }), fc.boolean())
  .map(
    ([mutations, whole]) =>
      (bytes) =>
        whole ? bytes : mutations.reduce(mutate, bytes),
  );

/** Encoded messages, damaged or not. */
export function damaged(message: fc.Arbitrary<TestMessage>): fc.Arbitrary<Uint8Array> {
  return fc.tuple(message.map(encodeMessage), damage).map(([bytes, suffer]) => suffer(bytes));
}

function mutate(bytes: Uint8Array, m: typeof mutation extends fc.Arbitrary<infer M> ? M : never) {
  const at = 'at' in m ? m.at % (bytes.length + 1) : 0;
  switch (m.kind) {
    case 'cut':
      return bytes.slice(0, at);
    case 'append':
      return concat(bytes, m.bytes);
    case 'set':
      return bytes.length === 0 ? bytes : bytes.with(Math.max(at - 1, 0), m.byte);
    case 'count':
      return bytes.length < 12
        ? bytes
        : bytes.with(4 + m.section * 2, m.count >>> 8).with(5 + m.section * 2, m.count & 255);
    case 'pointer':
      return concat(bytes.slice(0, at), pointerTo(m.to), bytes.slice(at + 2));
    case 'repeat':
      return concat(bytes, bytes.slice(m.from, m.from + m.length));
  }
}
