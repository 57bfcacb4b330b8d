import { Yielder } from './yielder.js';

/** Items of a list that are written in one go. */
const PIECE_ITEMS = 1024;

/** Whether the JSON text of a value takes so long to make that it should be made in slices. */
export function isLong(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return isLongList(value) || Object.values(value).some(isLongList);
}

function isLongList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > PIECE_ITEMS;
}

/**
 * `JSON.stringify` of a list, or of an object that has lists as fields. When a list is long, it yields to the event
 * loop.
 */
export async function jsonText(value: object): Promise<string> {
  if (isLongList(value)) return listText(value);
  if (!isLong(value)) return JSON.stringify(value);
  const fields: string[] = [];
  for (const [name, field] of Object.entries(value)) {
    const text = isLongList(field) ? await listText(field) : JSON.stringify(field);
    if (text !== undefined) fields.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${fields.join(',')}}`;
}

async function listText(items: readonly unknown[]): Promise<string> {
  const yielder = new Yielder();
  const pieces: string[] = [];
  for (let i = 0; i < items.length; i += PIECE_ITEMS) {
    pieces.push(JSON.stringify(items.slice(i, i + PIECE_ITEMS)).slice(1, -1));
    await yielder.yieldIfDue();
  }
  return `[${pieces.join(',')}]`;
}
