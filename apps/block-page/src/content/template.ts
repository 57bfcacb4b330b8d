import { escapeHtml } from '../html/markup.js';

/** The placeholders of a custom page: `{{name}}` and so on. */
export const PLACEHOLDERS = [
  'name',
  'reason',
  'reason_code',
  'category',
  'application',
  'authority',
  'reference',
  'target',
  'next_switch',
  'schedule',
  'incident',
  'language',
  'direction',
  'page_id',
  'assets',
] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

/** Plain texts for the placeholders; a placeholder without a value becomes empty. */
export type PlaceholderValues = Readonly<Partial<Record<Placeholder, string>>>;

const PATTERN = /\{\{\s*([A-Za-z_]+)\s*\}\}/g;

/** The text of a custom page, split at its placeholders. */
export class Template {
  /** Unknown placeholders. They stay in the page unchanged. */
  readonly unknown: readonly string[];
  /** Literal, placeholder, literal, placeholder … literal. */
  private readonly parts: readonly string[];

  constructor(text: string) {
    const unknown = new Set<string>();
    const parts = [''];
    let at = 0;
    for (const match of text.matchAll(PATTERN)) {
      parts[parts.length - 1] += text.slice(at, match.index);
      at = match.index + match[0].length;
      if ((PLACEHOLDERS as readonly string[]).includes(match[1])) {
        parts.push(match[1], '');
      } else {
        unknown.add(match[1]);
        parts[parts.length - 1] += match[0];
      }
    }
    parts[parts.length - 1] += text.slice(at);
    this.parts = parts;
    this.unknown = [...unknown];
  }

  /** Values are escaped for element content and for attribute values in quotes. */
  fill(values: PlaceholderValues): string {
    const filled = this.parts.map((part, i) =>
      i % 2 === 0 ? part : escapeHtml(values[part as Placeholder] ?? ''),
    );
    return filled.join('');
  }
}
