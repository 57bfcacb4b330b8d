import { needs } from '@weir/ops/testing';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  makeKey,
  startNamed,
  writeZone,
} from '../../../libs/catalogue/src/sources/testing/primaries.js';
import { Deployment } from './deployment.js';
import { DnsClient } from './dns-client.js';
import { UPSTREAM_ADDRESS } from './dns-message.js';

const ZONE = 'rpz.zone.example';
const SUBSCRIBER = '127.1.0.1';
const WAIT = { timeout: 120_000, interval: 200 };

it(
  'a name of a zone that is transferred is blocked while the zone has it',
  { ...needs('named', 'nsupdate'), timeout: 300_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-rpz-'));
    const catalogue = join(folder, 'feed');
    mkdirSync(catalogue);
    const key = makeKey('feed.example', 'hmac-sha256');
    const stays = Array.from({ length: 20 }, (_, i) => `stays${i}.example CNAME .`);
    writeZone(folder, ZONE, [...stays, 'bad.example CNAME .', '*.bad.example CNAME .']);
    const primary = await startNamed(folder, [ZONE], [key]);
    writeFileSync(
      join(catalogue, 'catalogue.yaml'),
      `categories:
  - id: 33
    name: Command servers of botnets
    sources:
      - { url: "rpz://127.0.0.1:${primary.port}/${ZONE}?key=${key.name}", format: rpz, refresh: 10s }
`,
    );
    const deployment = await Deployment.create({
      ...{ folder, replicas: 1, resolvers: 1, fsync: false, withoutProxies: true },
      replicaVariables: () => ({
        CATALOGUE: catalogue,
        CATALOGUE_INTERVAL_MS: '1000',
        CATALOGUE_TSIG_KEYS: key.text,
      }),
    });
    const dns = new DnsClient();
    onTestFinished(async () => {
      await dns.close();
      await deployment.stop();
      await primary.stop();
      rmSync(folder, { recursive: true });
    });
    await deployment.start();
    const [client] = deployment.clients;
    await client.change('POST', '/blockpage/', { id: 1, type: 0 });
    await client.change('POST', '/profiles/', { profile: { id: 1, page_id: 1 }, cat_ids: [33] });
    await client.change('POST', '/net/', { ip: SUBSCRIBER, profile_id: 1 });
    const isBlocked = async (name: string) => {
      const { seen } = await dns.ask(SUBSCRIBER, deployment.dnsPorts[0], name);
      return seen === null ? null : !seen.includes(UPSTREAM_ADDRESS);
    };
    await expect.poll(() => isBlocked('www.bad.example'), WAIT).toBe(true);
    expect(await isBlocked('new.example')).toBe(false);
    const changes = [
      `update delete bad.example.${ZONE}`,
      `update delete *.bad.example.${ZONE}`,
      `update add new.example.${ZONE} 60 CNAME .`,
    ];
    execFileSync('nsupdate', ['-y', key.text, '-t', '0'], {
      input: [`server 127.0.0.1 ${primary.port}`, `zone ${ZONE}`, ...changes, 'send', ''].join(
        '\n',
      ),
    });
    await expect.poll(() => isBlocked('new.example'), WAIT).toBe(true);
    expect(await isBlocked('www.bad.example')).toBe(false);
    const text = JSON.stringify(await client.call('GET', '/catalogue/'));
    expect(text).toContain(`rpz://127.0.0.1:${primary.port}/${ZONE}`);
    expect(text).not.toContain(key.secret);
  },
);
