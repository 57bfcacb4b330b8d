import fc from 'fast-check';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readBrand, contrastingColour } from './brand.js';

const folder = mkdtempSync(join(tmpdir(), 'weir-brand-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const unset = {
  BLOCK_PAGE_BRAND_NAME: undefined,
  BLOCK_PAGE_BRAND_LOGO: undefined,
  BLOCK_PAGE_BRAND_COLOR: '#ffee00',
  BLOCK_PAGE_BRAND_SUPPORT: undefined,
  BLOCK_PAGE_BRAND_PHONE: undefined,
};

describe('readBrand', () => {
  it('accepts a logo as a data URI or as a file', () => {
    const file = join(folder, 'Logo.SVG');
    writeFileSync(file, '<svg/>');
    const ofFile = readBrand({ ...unset, BLOCK_PAGE_BRAND_LOGO: file });
    expect(ofFile.logo).toBe('data:image/svg+xml;base64,PHN2Zy8+');
    const given = readBrand({ ...unset, BLOCK_PAGE_BRAND_LOGO: 'data:image/png,x' });
    expect(given.logo).toBe('data:image/png,x');
  });

  it('refuses a file that is too large or has no image extension', () => {
    const text = join(folder, 'logo.txt');
    expect(() => readBrand({ ...unset, BLOCK_PAGE_BRAND_LOGO: text })).toThrow('.png, .jpg');
    const large = join(folder, 'large.png');
    writeFileSync(large, Buffer.alloc(256 * 1024 + 1));
    expect(() => readBrand({ ...unset, BLOCK_PAGE_BRAND_LOGO: large })).toThrow('262145 bytes');
  });

  it('makes links of the support address and the phone number', () => {
    const support = (value: string) =>
      readBrand({ ...unset, BLOCK_PAGE_BRAND_SUPPORT: value }).support;
    expect(support('help@example.net')).toEqual({
      href: 'mailto:help@example.net',
      text: 'help@example.net',
    });
    expect(support('https://example.net/help/')).toEqual({
      href: 'https://example.net/help/',
      text: 'example.net/help',
    });
    const { phone } = readBrand({ ...unset, BLOCK_PAGE_BRAND_PHONE: '+44 (20) 7946-0000' });
    expect(phone).toEqual({ href: 'tel:+442079460000', text: '+44 (20) 7946-0000' });
  });
});

describe('contrastingColour', () => {
  it('is black on light colours and white on dark ones', () => {
    expect(['#ffee00', '#ffffff', '#000000', '#1f4e79'].map(contrastingColour)).toEqual([
      '#000000',
      '#000000',
      '#ffffff',
      '#ffffff',
    ]);
  });

  it('contrasts 4.5:1 with every colour (WCAG 2.2, 1.4.3)', () => {
    // The contrast of two colours, by the definition of WCAG.
    const luminance = (colour: string) =>
      [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
        const value = parseInt(colour.slice(1 + i * 2, 3 + i * 2), 16) / 255;
        return sum + weight * (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
      }, 0);
    const channel = fc.integer({ min: 0, max: 255 }).map((n) => n.toString(16).padStart(2, '0'));
    fc.assert(
      fc.property(channel, channel, channel, (red, green, blue) => {
        const colour = `#${red}${green}${blue}`;
        const [low, high] = [luminance(colour), luminance(contrastingColour(colour))].sort(
          (a, b) => a - b,
        );
        expect((high + 0.05) / (low + 0.05)).toBeGreaterThanOrEqual(4.5);
      }),
    );
  });
});
