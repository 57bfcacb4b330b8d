import { freePort } from '@weir/ops/testing';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

const LOOPBACK = '127.0.0.1';
/** Types AXFR and IXFR with the class, as at the end of a question. */
const TRANSFER_ALL = Buffer.from([0, 252, 0, 1]);
const TRANSFER_CHANGES = Buffer.from([0, 251, 0, 1]);

/** A key that `tsig-keygen` makes. */
export interface MadeKey {
  readonly name: string;
  readonly algorithm: string;
  readonly secret: string;
  /** As CATALOGUE_TSIG_KEYS has it. */
  readonly text: string;
}

export function makeKey(name: string, algorithm: string): MadeKey {
  const clause = execFileSync('tsig-keygen', ['-a', algorithm, name], { encoding: 'utf8' });
  const secret = /secret "([^"]+)"/.exec(clause)?.[1] ?? '';
  return { name, algorithm, secret, text: `${algorithm}:${name}:${secret}` };
}

/** Writes a zone with these policies, each one record relative to the zone. */
export function writeZone(
  folder: string,
  zone: string,
  policies: readonly string[],
  serial = 7,
): void {
  const head = [
    `$ORIGIN ${zone}.`,
    '$TTL 60',
    `@ SOA ns.feed.example. host.feed.example. ${serial} 3600 600 86400 60`,
    '@ NS ns.feed.example.',
  ];
  writeFileSync(join(folder, zone), [...head, ...policies, ''].join('\n'));
}

export interface Primary {
  readonly port: number;
  /** It reads its zones again. */
  reload(): void;
  stop(): Promise<void>;
}

/** Sends an update of a zone to BIND. @param changes lines of nsupdate, such as `update add …` */
export function updateNamed(
  { port }: Primary,
  { text }: MadeKey,
  zone: string,
  changes: readonly string[],
): void {
  const input = [`server ${LOOPBACK} ${port}`, `zone ${zone}`, ...changes, 'send', ''].join('\n');
  execFileSync('nsupdate', ['-y', text, '-t', '0'], { input });
}

/** BIND, which gives the zones to who has one of the keys, and takes updates of them with the first one. */
export function startNamed(
  folder: string,
  zones: readonly string[],
  keys: readonly MadeKey[],
): Promise<Primary> {
  return start('named', ['-g', '-n', '1', '-c'], folder, (port) => [
    ...keys.map(
      ({ name, algorithm, secret }) =>
        `key "${name}" { algorithm ${algorithm}; secret "${secret}"; };`,
    ),
    'options {',
    `  directory "${folder}"; pid-file none; session-keyfile none; recursion no;`,
    `  listen-on port ${port} { ${LOOPBACK}; }; listen-on-v6 { none; };`,
    `  allow-transfer { ${keys.map(({ name }) => `key "${name}"; `).join('')}};`,
    '};',
    'controls {};',
    ...zones.map(
      (zone) =>
        `zone "${zone}" { type primary; file "${zone}"; allow-update { key "${keys[0].name}"; }; };`,
    ),
  ]);
}

/** nsd, which gives the zones to who has the key. */
export function startNsd(
  folder: string,
  zones: readonly string[],
  { name, algorithm, secret }: MadeKey,
): Promise<Primary> {
  return start('nsd', ['-d', '-c'], folder, (port) => [
    'server:',
    `  ip-address: ${LOOPBACK}@${port}`,
    '  server-count: 1',
    '  username: ""',
    '  chroot: ""',
    '  database: ""',
    `  zonesdir: "${folder}"`,
    `  pidfile: "${folder}/nsd.pid"`,
    `  xfrdfile: "${folder}/xfrd.state"`,
    `  zonelistfile: "${folder}/zone.list"`,
    `  xfrdir: "${folder}"`,
    'remote-control:',
    '  control-enable: no',
    'key:',
    `  name: "${name}"`,
    `  algorithm: ${algorithm}`,
    `  secret: "${secret}"`,
    ...zones.flatMap((zone) => [
      'zone:',
      `  name: ${zone}`,
      `  zonefile: ${zone}`,
      `  provide-xfr: ${LOOPBACK} ${name}`,
      '  store-ixfr: yes',
      '  create-ixfr: yes',
    ]),
  ]);
}

/** Starts it on a free port. Another process may take the port first; then it ends, and is started on another one. */
async function start(
  program: string,
  args: readonly string[],
  folder: string,
  settings: (port: number) => readonly string[],
): Promise<Primary> {
  const file = join(folder, `${program}.conf`);
  for (let tries = 0; tries < 5; tries++) {
    const port = await freePort();
    writeFileSync(file, settings(port).join('\n') + '\n');
    const child = spawn(program, [...args, file], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    if (!(await answersOn(port, child))) continue;
    return {
      port,
      reload: () => void child.kill('SIGHUP'),
      stop: async () => {
        child.kill('SIGKILL');
        await ended;
      },
    };
  }
  throw new Error(`${program} does not start`);
}

/** Waits until it listens. @returns false when it has ended instead. */
async function answersOn(port: number, child: ChildProcess): Promise<boolean> {
  while (child.exitCode === null) {
    const socket = connect(port, LOOPBACK);
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

/** A server on loopback that does what it likes with each connection. */
export async function startTcp(onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  return server;
}

/** Splits a stream into messages with two bytes of length before each. */
export class Framer {
  private rest = Buffer.alloc(0);

  push(chunk: Uint8Array): Buffer[] {
    this.rest = Buffer.concat([this.rest, chunk]);
    const messages: Buffer[] = [];
    while (this.rest.length >= 2 && this.rest.length >= 2 + this.rest.readUInt16BE()) {
      const end = 2 + this.rest.readUInt16BE();
      messages.push(this.rest.subarray(2, end));
      this.rest = this.rest.subarray(end);
    }
    return messages;
  }
}

export function framed(message: Uint8Array): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/**
 * A proxy before a primary that changes what it sends.
 * @param change gets each message of a transfer with its number from 0. It returns what is sent instead; null ends the
 *   connection.
 */
export function startProxy(
  port: number,
  change: (message: Buffer, number: number) => readonly Uint8Array[] | null,
): Promise<Server> {
  return startTcp((client) => {
    const upstream = connect(port, LOOPBACK);
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
    let isTransfer = false;
    let number = 0;
    client.on('data', (query: Buffer) => {
      isTransfer = [TRANSFER_ALL, TRANSFER_CHANGES].some((question) => query.includes(question));
      upstream.write(query);
    });
    const framer = new Framer();
    upstream.on('data', (chunk: Buffer) => {
      for (const message of framer.push(chunk)) {
        const sent = isTransfer ? change(message, number++) : [message];
        if (sent === null) {
          upstream.destroy();
          client.end();
          return;
        }
        for (const one of sent) client.write(framed(one));
      }
    });
    upstream.on('end', () => client.end());
  });
}
