import type { LineOutput } from '@weir/ops';
import type { DnsConfiguration } from '../configuration.js';
import { QueryLog } from './query-log.js';

/** @returns null when the log is off. */
export function openQueryLog(
  configuration: Pick<DnsConfiguration, 'QUERY_LOG_NAMES' | 'QUERY_LOG_SAMPLING'>,
  output: LineOutput | undefined,
): QueryLog | null {
  const { QUERY_LOG_SAMPLING: sampling, QUERY_LOG_NAMES: showNames } = configuration;
  if (sampling === 0) return null;
  return new QueryLog({ sampling, showNames, ...(output !== undefined && { output }) });
}
