import { expect, it } from 'vitest';
import { FlatRows } from './flat-rows.js';

it.each([1, 2, 3, 4, 5, 100])('rows in pieces of %i are the same rows', (size) => {
  const rows = [[1, 2], [], [null, 3, 4], [5], [6, 7]];
  const pieces = [...FlatRows.of(rows).pieces(size)];
  expect(pieces.flatMap((piece) => piece.toJSON())).toEqual(rows);
  expect(pieces.map(({ length }) => length).slice(0, -1)).toEqual(
    Array.from({ length: Math.ceil(rows.length / size) - 1 }, () => size),
  );
});
