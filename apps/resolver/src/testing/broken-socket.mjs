/*
 * Loaded into a resolver before its program (`--import`). At SIGUSR2 a file takes the place of its UDP socket with the
 * port BROKEN_PORT_FILE names, so that no datagram can be received from that descriptor any more.
 */
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const { BROKEN_PORT_FILE = '' } = process.env;

function breakSocket() {
  const port = Number(readFileSync(BROKEN_PORT_FILE, 'utf8'));
  const line = readFileSync('/proc/self/net/udp', 'utf8')
    .split('\n')
    .map((one) => one.trim().split(/\s+/))
    .find(([, local]) => local?.endsWith(`:${port.toString(16).toUpperCase().padStart(4, '0')}`));
  const link = `socket:[${line[9]}]`;
  const fd = readdirSync('/proc/self/fd').find((one) => {
    try {
      return readlinkSync(`/proc/self/fd/${one}`) === link;
    } catch {
      return false;
    }
  });
  closeSync(Number(fd));
  while (openSync('/dev/null', 'r') !== Number(fd));
}

if (isMainThread) process.on('SIGUSR2', breakSocket);
