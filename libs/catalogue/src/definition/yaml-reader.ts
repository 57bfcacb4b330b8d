import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from 'yaml';
import { CatalogueError } from '../catalogue-error.js';
import type { FilePlace } from './definition.js';

/** Longest text in characters that is a word of the format, or a few. */
export const MAX_WORD = 200;

/** A node of the file with its path, such as `categories[3].domains[0]`. */
export interface Place {
  readonly node: Node | null;
  readonly path: string;
}

/** Reads one YAML file node by node, so that every error names file, line and field. */
export class YamlReader {
  private readonly lines = new LineCounter();
  readonly root: Place;

  /** @throws CatalogueError when `text` is not YAML. */
  constructor(
    readonly file: string,
    text: string,
  ) {
    const document = parseDocument(text, { lineCounter: this.lines, prettyErrors: false });
    const [error] = document.errors;
    if (error !== undefined) {
      const line = this.lines.linePos(error.pos[0]).line;
      throw new CatalogueError(`${file}:${line}: ${error.message.split('\n')[0] ?? ''}`);
    }
    this.root = { node: document.contents, path: '' };
  }

  filePlace({ node }: Place): FilePlace {
    return { file: this.file, line: this.lines.linePos(node?.range?.[0] ?? 0).line };
  }

  /** Such as `catalogue.yaml:14: categories[3].name`. */
  where(place: Place): string {
    return `${this.file}:${this.filePlace(place).line}${place.path === '' ? '' : `: ${place.path}`}`;
  }

  fail(place: Place, problem: string): CatalogueError {
    return new CatalogueError(`${this.where(place)}: ${problem}`);
  }

  /** The fields of a map. A field that is not in `known` is refused, as it may be misspelt. */
  fields<K extends string>(place: Place, known: readonly K[]): Partial<Record<K, Place>> {
    if (!isMap(place.node)) throw this.fail(place, `must be a map of ${known.join(', ')}`);
    const fields: Partial<Record<K, Place>> = {};
    for (const { key, value } of (place.node as YAMLMap<Node, Node | null>).items) {
      const name = isScalar(key) ? String(key.value) : '?';
      const path = place.path === '' ? name : `${place.path}.${name}`;
      if (!(known as readonly string[]).includes(name)) {
        throw this.fail({ node: key, path }, `unknown field, known are ${known.join(', ')}`);
      }
      fields[name as K] = { node: value ?? key, path };
    }
    return fields;
  }

  required(parent: Place, fields: Partial<Record<string, Place>>, name: string): Place {
    const field = fields[name];
    if (field === undefined) throw this.fail(parent, `${name} is missing`);
    return field;
  }

  /** The items of a list; none when the field is absent. */
  items(place: Place | undefined): Place[] {
    if (place === undefined) return [];
    const { node, path } = place;
    if (!isSeq<Node | null>(node)) throw this.fail(place, 'must be a list');
    return node.items.map((item, i) => ({ node: item ?? node, path: `${path}[${i}]` }));
  }

  integer(place: Place, lowest: number, highest: number): number {
    const value = this.scalar(place);
    const isInteger = typeof value === 'number' && Number.isInteger(value);
    if (isInteger && value >= lowest && value <= highest) return value;
    throw this.fail(place, `must be an integer from ${lowest} to ${highest}`);
  }

  text(place: Place, maxLength: number): string {
    const value = this.scalar(place);
    if (typeof value !== 'string' || value === '' || value.length > maxLength) {
      throw this.fail(place, `must be a text of 1 to ${maxLength} characters`);
    }
    // PostgreSQL stores neither.
    if (/\0|\p{Cs}/u.test(value)) throw this.fail(place, 'must not have NUL or half a character');
    return value;
  }

  /** A text that matches the pattern. */
  match(place: Place, pattern: RegExp, problem: string): RegExpExecArray {
    const match = pattern.exec(this.text(place, MAX_WORD));
    if (match === null) throw this.fail(place, problem);
    return match;
  }

  /** False when the field is absent. */
  flag(place: Place | undefined): boolean {
    if (place === undefined) return false;
    const value = this.scalar(place);
    if (typeof value !== 'boolean') throw this.fail(place, 'must be true or false');
    return value;
  }

  /** One of these words, as it reads: `true` is a text then. */
  choice<W extends string>(place: Place, choices: readonly W[]): W {
    const word = String(this.scalar(place));
    const found = choices.find((known) => known === word);
    if (found === undefined) throw this.fail(place, `must be one of ${choices.join(', ')}`);
    return found;
  }

  private scalar(place: Place): unknown {
    return isScalar(place.node) ? place.node.value : undefined;
  }
}
