/** HTML that is inserted without escaping. */
export class Markup {
  constructor(readonly text: string) {}
}

type Insertion = string | Markup | undefined | readonly Markup[];

/** A template literal of HTML. Inserted values are escaped unless they are `Markup`; undefined inserts nothing. */
export function markup(
  literals: TemplateStringsArray,
  ...insertions: readonly Insertion[]
): Markup {
  let text = literals[0];
  insertions.forEach((insertion, i) => {
    text += textOf(insertion) + literals[i + 1];
  });
  return new Markup(text);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for element content and for attribute values in quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]);
}

function textOf(insertion: Insertion): string {
  if (insertion === undefined) return '';
  if (typeof insertion === 'string') return escapeHtml(insertion);
  return insertion instanceof Markup ? insertion.text : insertion.map(({ text }) => text).join('');
}
