import { describe, expect, it } from 'vitest';
import { repairUrl, UNDECODABLE } from './begin-request.js';

const repaired = (url: string): string => {
  const request = { url, path: url.replace(/\?.*$/, '') };
  repairUrl(request);
  return request.url;
};

describe('repairUrl', () => {
  it.each(['/', '/net/1', '/net/1?a=b', '/profile/1/bw_list/a%2fb', '/net/1?a=%zz', '/%e2%82%ac'])(
    'leaves %s as it is',
    (url) => {
      expect(repaired(url)).toBe(url);
    },
  );

  it('replaces each segment that cannot be decoded, and leaves the query', () => {
    expect(repaired('/profile/%zz/bw_list/%c3%28/?a=%zz?')).toBe(
      `/profile/${UNDECODABLE}/bw_list/${UNDECODABLE}/?a=%zz?`,
    );
  });

  it('makes a path of *', () => {
    expect(repaired('*')).toBe('/*');
  });

  it('uses a replacement that no percent-encoding decodes to', () => {
    expect(() => encodeURIComponent(UNDECODABLE)).toThrow(URIError);
    expect(() => decodeURIComponent('%ED%A0%80')).toThrow(URIError);
  });
});
