import { describe, expect, it } from 'vitest';
import { parseUpstream, showUpstream } from './endpoint.js';

describe('showUpstream', () => {
  it.each([
    '192.0.2.1:53',
    '[2001:db8::1]:5353',
    'tls://192.0.2.1:853#dns.example',
    'tls://[2001:db8::1]:853#sha256/nw8C+VVt9bWlfmVFCH5SHZzSAtPOn4rbQAhSgqmIwTI=',
  ])('writes %s as it is read', (text) => {
    expect(showUpstream(parseUpstream(text, 53))).toBe(text);
  });
});
