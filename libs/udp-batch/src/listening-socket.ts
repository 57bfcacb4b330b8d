import {
  type BoundSocketOptions,
  check,
  localNameOf,
  openBound,
  setOption,
} from './bound-socket.js';
import { SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET } from './linux.js';
import { portOf } from './socket-address.js';
import type { SystemCalls } from './system-calls.js';

/** Connections that wait until they are accepted; as Node.js has it. */
const BACKLOG = 511;

/** A TCP socket that listens. Another thread may accept its connections: descriptors belong to the process. */
export interface ListeningSocket {
  readonly fd: number;
  readonly port: number;
}

/** @throws SystemError such as EADDRINUSE, EADDRNOTAVAIL or EACCES */
export function openListening(calls: SystemCalls, options: BoundSocketOptions): ListeningSocket {
  return openBound(
    calls,
    SOCK_STREAM,
    options,
    // Earlier connections, which still wait for late packets, do not keep the port.
    ({ fd }) => setOption(calls, fd, SOL_SOCKET, SO_REUSEADDR, 1),
    ({ fd }) => {
      check('listen', calls, calls.listen(fd, BACKLOG));
      return { fd, port: portOf(localNameOf(calls, fd)) };
    },
  );
}
