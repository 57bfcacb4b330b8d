import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CHART_FOLDER } from '../../paths.js';

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export const RULES_FILE = join(CHART_FOLDER, 'files/alerts.yaml');

interface RulesFile {
  readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
}

export function readRules(): readonly AlertRule[] {
  const { groups } = parse(readFileSync(RULES_FILE, 'utf8')) as RulesFile;
  return groups.flatMap(({ rules }) => rules);
}
