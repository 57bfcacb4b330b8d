import type { Row } from './panel.js';
import { RATE } from './promql.js';

const shareOfQueries = (which: string): string => {
  const all = `sum(rate(weir_resolver_queries_total${RATE}))`;
  return `sum(rate(weir_resolver_queries_total{${which}}${RATE})) / ${all}`;
};

export const AT_A_GLANCE: Row = {
  title: 'At a glance',
  panels: [
    {
      title: 'Resolvers ready',
      unit: 'short',
      isStat: true,
      queries: [['sum(weir_ready{job="weir-resolver"})', '']],
    },
    {
      title: 'Queries',
      unit: 'reqps',
      isStat: true,
      queries: [[`sum(rate(weir_resolver_queries_total${RATE}))`, '']],
    },
    {
      title: 'Blocked queries',
      unit: 'percentunit',
      isStat: true,
      queries: [[shareOfQueries('verdict="block"'), '']],
    },
    {
      title: 'SERVFAIL answers',
      unit: 'percentunit',
      isStat: true,
      queries: [[shareOfQueries('rcode="SERVFAIL"'), '']],
    },
    {
      title: 'Largest configuration lag',
      unit: 's',
      isStat: true,
      queries: [['max(weir_resolver_lag_seconds)', '']],
    },
    {
      title: 'Revision',
      unit: 'short',
      isStat: true,
      queries: [['max(weir_config_revision)', '']],
    },
  ],
};
