import type { Row } from './panel.js';
import { RATE } from './promql.js';

export const BLOCK_PAGES: Row = {
  title: 'Block pages',
  panels: [
    {
      title: 'Pages served',
      unit: 'reqps',
      queries: [
        [
          `sum by (page, subject) (rate(weir_block_page_pages_total${RATE}))`,
          '{{page}} {{subject}}',
        ],
      ],
    },
    {
      title: 'Requests without a page',
      unit: 'ops',
      queries: [[`sum by (why) (rate(weir_block_page_refusals_total${RATE}))`, '{{why}}']],
    },
    {
      title: 'Custom pages without content',
      unit: 'short',
      queries: [['max by (page_id) (weir_block_page_content_missing)', 'page {{page_id}}']],
    },
  ],
};
