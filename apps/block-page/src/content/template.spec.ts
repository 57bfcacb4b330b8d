import { describe, expect, it } from 'vitest';
import { Template } from './template.js';

describe('Template', () => {
  it('replaces every occurrence of a placeholder by its escaped value', () => {
    const template = new Template('<b title="{{name}}">{{ name }}</b>{{category}}.');
    expect(template.fill({ name: '<"&\'>' })).toBe(
      '<b title="&lt;&quot;&amp;&#39;&gt;">&lt;&quot;&amp;&#39;&gt;</b>.',
    );
  });

  it('does not replace placeholders inside of values', () => {
    expect(new Template('{{name}}').fill({ name: '{{reason}}', reason: 'no' })).toBe('{{reason}}');
  });

  it('leaves unknown placeholders unchanged, and lists them', () => {
    const template = new Template('{{toString}} {{Name}} {{name}} {{}} {{ a b }} {{Name}}');
    expect(template.fill({ name: 'x' })).toBe('{{toString}} {{Name}} x {{}} {{ a b }} {{Name}}');
    expect(template.unknown).toEqual(['toString', 'Name']);
  });

  it('is fast for a page full of braces', () => {
    const text = '{{'.repeat(200_000);
    expect(new Template(text).fill({})).toBe(text);
  });
});
