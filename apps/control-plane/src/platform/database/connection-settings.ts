import type pg from 'pg';

/** After this time, a database that does not accept the connection counts as unreachable. */
const CONNECT_TIMEOUT_MS = 5_000;
/** TCP keepalive: load balancers and firewalls drop connections that are idle for long. */
const KEEP_ALIVE_MS = 30_000;

/** Of every connection to PostgreSQL. */
export function connectionSettings(connectionString: string): pg.ClientConfig {
  return {
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'weir-control-plane',
  };
}

/**
 * The first statement of every connection. PostgreSQL ends a session, and its transaction, when the host of its client
 * has acknowledged no packet for ten seconds. None of its other timeouts applies in the middle of a statement or of a
 * COPY. It gives the number of the session.
 */
export const DETECT_LOST_CLIENT = `
  SELECT pg_backend_pid() AS session, set_config('tcp_keepalives_idle', '5', false),
    set_config('tcp_keepalives_interval', '1', false), set_config('tcp_keepalives_count', '5', false),
    set_config('tcp_user_timeout', '10000', false)`;
