import { choice, type Configuration } from '@weir/ops';

/** How the memory that queries read is laid out. */
export const MEMORY_VARIABLES = {
  HUGE_PAGES: choice(['auto', 'off'], {
    description:
      'Whether a large configuration and the catalogue lie in pages of 2 MiB (transparent huge pages), so that ' +
      'decisions wait less for memory. auto: where the kernel gives them to processes that ask for them. A small ' +
      'configuration does not use them.',
    default: 'auto',
  }),
} as const;

export type MemoryConfiguration = Configuration<typeof MEMORY_VARIABLES>;
