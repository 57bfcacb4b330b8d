import type { Row } from './panel.js';
import { quantile, RATE } from './promql.js';

export const CHANGES: Row = {
  title: 'Changes',
  panels: [
    {
      title: 'Revision in force',
      unit: 'short',
      queries: [
        ['weir_resolver_revision', '{{instance}}'],
        ['weir_block_page_revision', '{{instance}}'],
      ],
    },
    {
      title: 'Configuration lag',
      unit: 's',
      queries: [
        ['weir_resolver_lag_seconds', '{{instance}}'],
        ['weir_block_page_lag_seconds', '{{instance}}'],
      ],
    },
    {
      title: 'Propagation time',
      unit: 's',
      queries: [
        [quantile(0.5, 'weir_change_acknowledgement_seconds', 'job'), 'p50'],
        [quantile(0.99, 'weir_change_acknowledgement_seconds', 'job'), 'p99'],
      ],
    },
    {
      title: 'Changes answered',
      unit: 'ops',
      queries: [
        [`sum(rate(weir_change_acknowledgement_seconds_count${RATE}))`, 'answered'],
        [`sum(rate(weir_changes_incomplete_total${RATE}))`, 'incomplete'],
      ],
    },
    {
      title: 'Live followers',
      unit: 'short',
      queries: [['max by (kind) (weir_followers)', '{{kind}}']],
    },
    {
      title: 'Snapshots loaded',
      unit: 'ops',
      queries: [[`sum by (cause) (rate(weir_resolver_snapshot_loads_total${RATE}))`, '{{cause}}']],
    },
    {
      title: 'Digest mismatches, gaps and feed failures',
      unit: 'ops',
      queries: [
        [`sum(rate(weir_resolver_digest_mismatches_total${RATE}))`, 'mismatches'],
        [`sum(rate(weir_resolver_change_gaps_total${RATE}))`, 'gaps'],
        [`sum(rate(weir_resolver_feed_failures_total${RATE}))`, 'failures'],
      ],
    },
  ],
};
