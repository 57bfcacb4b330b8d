import { describe, expect, it } from 'vitest';
import { RequestFields } from './request-fields.js';

describe('RequestFields', () => {
  it('looks at no field behind those that are too large: 8,000 bytes may be 8,000 long names', () => {
    const fields = new RequestFields();
    const name = 'x'.repeat(3_000);
    for (let n = 0; n < 3; n++) fields.field(name, '');
    expect(fields.isTooLarge).toBe(true);
    fields.field('NOT READ', '');
    expect(fields.isMalformed).toBe(false);
  });
});
