import type { Row } from './panel.js';
import { quantile, RATE } from './promql.js';

export const PROCESSES: Row = {
  title: 'Processes',
  panels: [
    {
      title: 'CPU',
      unit: 'percentunit',
      queries: [
        [`rate(process_cpu_seconds_total{job=~"weir-.+"}${RATE})`, '{{job}} {{instance}}'],
        [`rate(weir_control_plane_process_cpu_seconds_total${RATE})`, '{{job}} {{instance}}'],
      ],
    },
    {
      title: 'Memory',
      unit: 'bytes',
      queries: [
        ['process_resident_memory_bytes{job=~"weir-.+"}', '{{job}} {{instance}}'],
        ['weir_control_plane_process_resident_memory_bytes', '{{job}} {{instance}}'],
      ],
    },
    {
      title: 'Event loop lag, p99',
      unit: 's',
      queries: [
        ['nodejs_eventloop_lag_p99_seconds{job=~"weir-.+"}', '{{job}} {{instance}}'],
        ['weir_control_plane_nodejs_eventloop_lag_p99_seconds', '{{job}} {{instance}}'],
      ],
    },
    {
      title: 'Time in garbage collection',
      unit: 'percentunit',
      queries: [
        [
          `sum by (job, instance) (rate(nodejs_gc_duration_seconds_sum{job=~"weir-.+"}${RATE}))`,
          '{{job}} {{instance}}',
        ],
        [
          `sum by (job, instance) (rate(weir_control_plane_nodejs_gc_duration_seconds_sum${RATE}))`,
          '{{job}} {{instance}}',
        ],
      ],
    },
    {
      title: 'Pauses for garbage collection, p99',
      unit: 's',
      queries: [
        [quantile(0.99, 'nodejs_gc_duration_seconds', 'job, instance'), '{{job}} {{instance}}'],
        [
          quantile(0.99, 'weir_control_plane_nodejs_gc_duration_seconds', 'job, instance'),
          '{{job}} {{instance}}',
        ],
      ],
    },
    { title: 'Ready', unit: 'short', queries: [['weir_ready', '{{job}} {{instance}}']] },
  ],
};
