import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError, normaliseDomain } from '@weir/dns-name';
import type { SourceReport } from './definition.js';

const MAX_EXAMPLES = 10;

/**
 * Reads a list of format `domains`: one domain a line, `#` begins a comment, blank lines do not count. Invalid lines are
 * counted and reported, never fatal.
 * @param onDomain is given each domain in normal form.
 */
export async function readDomainsFile(
  folder: string,
  file: string,
  onDomain: (domain: string) => void,
): Promise<SourceReport> {
  const examples: { line: number; problem: string }[] = [];
  let line = 0;
  let domains = 0;
  let invalidLines = 0;
  const handle = await open(join(folder, file));
  for await (const text of handle.readLines()) {
    line++;
    const entry = text.split('#', 1)[0].trim();
    if (entry === '') continue;
    try {
      onDomain(normaliseDomain(entry));
      domains++;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      invalidLines++;
      if (examples.length < MAX_EXAMPLES) examples.push({ line, problem: error.message });
    }
  }
  return { file, domains, invalidLines, examples };
}
