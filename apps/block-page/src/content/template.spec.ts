import { describe, expect, it } from 'vitest';
import { Template } from './template.js';

describe('Template', () => {
  it('fills in placeholders, escaped, as often as they stand there', () => {
    const template = new Template('<b title="{{name}}">{{ name }}</b>{{category}}.');
    expect(template.fill({ name: '<"&\'>' })).toBe(
      '<b title="&lt;&quot;&amp;&#39;&gt;">&lt;&quot;&amp;&#39;&gt;</b>.',
    );
  });

  it('fills nothing in from a value: what a value holds is text', () => {
    expect(new Template('{{name}}').fill({ name: '{{reason}}', reason: 'no' })).toBe('{{reason}}');
  });

  it('leaves what is no placeholder as it stands, and names it', () => {
    const template = new Template('{{toString}} {{Name}} {{name}} {{}} {{ a b }} {{Name}}');
    expect(template.fill({ name: 'x' })).toBe('{{toString}} {{Name}} x {{}} {{ a b }} {{Name}}');
    expect(template.unknown).toEqual(['toString', 'Name']);
  });

  it('is fast for a page full of braces', () => {
    const text = '{{'.repeat(200_000);
    expect(new Template(text).fill({})).toBe(text);
  });
});
