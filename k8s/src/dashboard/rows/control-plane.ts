import type { Row } from './panel.js';
import { quantile, RATE } from './promql.js';

export const CONTROL_PLANE: Row = {
  title: 'Control plane',
  panels: [
    {
      title: 'Requests by status',
      unit: 'reqps',
      queries: [[`sum by (status) (rate(weir_management_requests_total${RATE}))`, '{{status}}']],
    },
    {
      title: 'Time to answer, p99',
      unit: 's',
      queries: [[quantile(0.99, 'weir_management_request_duration_seconds', 'route'), '{{route}}']],
    },
    {
      title: 'PostgreSQL and Redis',
      unit: 'short',
      queries: [
        ['weir_database_reachable', 'PostgreSQL from {{instance}}'],
        ['weir_redis_connected', 'Redis from {{instance}}'],
      ],
    },
    {
      title: 'Connections to PostgreSQL',
      unit: 'short',
      queries: [
        ['weir_database_connections', '{{instance}}'],
        ['weir_database_waiting', '{{instance}} waiting'],
      ],
    },
    {
      title: 'Wait for a connection to PostgreSQL, p99',
      unit: 's',
      queries: [[quantile(0.99, 'weir_database_wait_seconds', 'pool'), '{{pool}}']],
    },
    {
      title: 'Background jobs',
      unit: 'ops',
      queries: [
        [
          `sum by (exported_job, result) (rate(weir_job_runs_total${RATE}))`,
          '{{exported_job}} {{result}}',
        ],
      ],
    },
    {
      title: 'Domains by category',
      unit: 'short',
      queries: [['max by (category) (weir_catalogue_category_domains)', '{{category}}']],
    },
    {
      title: 'Age of catalogue lists',
      unit: 's',
      queries: [['max by (source) (weir_catalogue_source_age_seconds)', '{{source}}']],
    },
  ],
};
