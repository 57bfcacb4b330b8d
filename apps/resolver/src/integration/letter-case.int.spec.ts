import { wireName } from '@weir/dns-wire/testing';
import { describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import { forwarder, upstream } from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import type { Answerer, AskedQuery } from '../testing/upstream-server.js';

const NAME = 'a-name-with-many-letters.example.com';
const TRUE = [a('192.0.2.1')];

const nameIn = ({ message }: AskedQuery): string => message.questions[0].qname;
const transports = (asked: readonly AskedQuery[]): string[] => asked.map((one) => one.transport);

/** It answers with the question in lower case. */
const lowerCase: Answerer = (query) => {
  const { qtype } = query.message.questions[0];
  const question = { qname: wireName(nameIn(query).toLowerCase()), qtype };
  return respond(query, { questions: [question], answers: TRUE });
};

/** Somebody who knows id and port, but not the case. */
const forged: Answerer = (query) => {
  if (query.transport === 'tcp') return respond(query, { answers: TRUE });
  const question = { qname: wireName(NAME), qtype: 1 };
  return respond(query, { questions: [question], answers: [a('192.0.2.66')] });
};

describe('letters of a random case towards upstreams', () => {
  it('are new for each question, and clients have their own case', async () => {
    const server = await upstream((query) => respond(query, { answers: TRUE }));
    const { ask, exchanges } = await forwarder([server.endpoint], { hasMixedCase: true });
    for (let i = 0; i < 20; i++) expect(await ask(NAME)).toMatchObject({ rcode: 0 });
    const names = server.asked.map(nameIn);
    expect(new Set(names).size).toBe(20);
    expect(new Set(names.map((name) => name.toLowerCase()))).toEqual(new Set([NAME]));
    for (const { bytes } of exchanges) {
      expect(Buffer.from(bytes.subarray(12, 13 + NAME.length))).toEqual(
        Buffer.from(wireName(NAME).subarray(0, -1)),
      );
    }
  });

  it('are left alone where the option is off', async () => {
    const server = await upstream(lowerCase);
    const { ask } = await forwarder([server.endpoint], { hasMixedCase: false });
    await ask('WWW.Example.com');
    expect(server.asked.map(nameIn)).toEqual(['WWW.Example.com']);
  });

  it('make a forged answer worthless: the question is asked again over TCP', async () => {
    const server = await upstream(forged);
    const { ask, subject } = await forwarder([server.endpoint], { hasMixedCase: true });
    for (let i = 0; i < 3; i++) {
      const outcome = await ask(NAME);
      expect(outcome).toMatchObject({ answers: [{ rdata: Buffer.from([192, 0, 2, 1]) }] });
    }
    expect(transports(server.asked)).toEqual(['udp', 'tcp', 'udp', 'tcp', 'udp', 'tcp']);
    expect(subject.upstreams[0].counters).toMatchObject({ suspects: 3, overTcp: 3, failures: 0 });
  });

  it('are not expected of an upstream that changes them over TCP too, for a while', async () => {
    const server = await upstream(lowerCase);
    let skippedMs = 0;
    const { ask } = await forwarder([server.endpoint], {
      hasMixedCase: true,
      nowMs: () => performance.now() + skippedMs,
    });
    for (let i = 0; i < 3; i++) expect(await ask(NAME)).toMatchObject({ answers: [{ type: 1 }] });
    expect(transports(server.asked)).toEqual(['udp', 'tcp', 'udp', 'udp']);
    skippedMs = 301_000;
    expect(await ask(NAME)).toMatchObject({ answers: [{ type: 1 }] });
    expect(transports(server.asked).slice(4)).toEqual(['udp', 'tcp']);
  });

  it('are of the right question where the first upstream has no socket', async () => {
    const server = await upstream((query) => respond(query, { answers: TRUE }));
    // The system lets nobody send there.
    const broadcast = { address: '255.255.255.255', port: 53 };
    const { ask } = await forwarder([broadcast, server.endpoint], { hasMixedCase: true });
    for (const name of ['a.example.com', 'bb.example.com']) {
      expect(await ask(name)).toMatchObject({ rcode: 0 });
      expect(nameIn(server.asked.at(-1)!).toLowerCase()).toBe(name);
    }
  });

  it('stay the same for all attempts of a question, so that a late answer counts', async () => {
    const late = await upstream(() => null);
    const second = await upstream((query) => {
      late.sendTo(respond(late.asked[0], { answers: TRUE }), late.asked[0].from!);
      return query.transport === 'udp' ? null : respond(query);
    });
    const { ask } = await forwarder([late.endpoint, second.endpoint], {
      hasMixedCase: true,
      attemptTimeoutMs: 100,
    });
    expect(await ask(NAME)).toMatchObject({ answers: [{ type: 1 }] });
    expect(transports(late.asked)).toEqual(['udp']);
    expect(nameIn(second.asked[0])).toBe(nameIn(late.asked[0]));
  });
});
