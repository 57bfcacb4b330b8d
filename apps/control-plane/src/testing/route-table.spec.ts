import { describe, expect, it } from 'vitest';
import { type Route, RouteTable } from './route-table.js';

const route = (method: string, pattern: string): Route => ({ method, pattern });
const table = new RouteTable([
  route('GET', '/napt/:int_ip'),
  route('POST', '/napt/'),
  route('POST', '/napt/batch'),
  route('PATCH', '/profile/:profile_id/bw_list/:domain'),
  route('DELETE', '/profile/:profile_id/bw_list/:domain'),
  route('POST', '/profile/:profile_id/bw_list/batch'),
]);

describe('RouteTable', () => {
  it('finds the route of a path and method, with or without a trailing slash', () => {
    for (const path of ['/napt', '/napt/']) {
      expect(table.match(path)?.route('POST')?.route.pattern).toBe('/napt/');
    }
    expect(table.match('/napt/7/')?.route('GET')?.parts).toEqual({ int_ip: '7' });
  });

  it('prefers fixed segments, and uses parameters for other methods', () => {
    const batch = table.match('/profile/1/bw_list/batch');
    expect(batch?.route('POST')?.route.pattern).toBe('/profile/:profile_id/bw_list/batch');
    expect(batch?.route('PATCH')?.parts).toEqual({ profile_id: '1', domain: 'batch' });
    expect(batch?.allow).toBe('POST, PATCH, DELETE, OPTIONS');
  });

  it('decodes parameters, and returns null for invalid percent-encoding', () => {
    const decoded = table.match('/profile/1/bw_list/a%2eexample%2Ecom')?.route('DELETE');
    expect(decoded?.parts).toEqual({ profile_id: '1', domain: 'a.example.com' });
    const broken = table.match('/profile/%/bw_list/%c3%28')?.route('DELETE');
    expect(broken?.parts).toEqual({ profile_id: null, domain: null });
  });

  it('keeps an encoded slash inside its parameter', () => {
    const match = table.match('/profile/1/bw_list/a%2Fb')?.route('PATCH');
    expect(match?.parts).toEqual({ profile_id: '1', domain: 'a/b' });
  });

  it('uses the route of GET for HEAD', () => {
    expect(table.match('/napt/7')?.route('HEAD')?.route.method).toBe('GET');
    expect(table.match('/napt/7')?.allow).toBe('GET, HEAD, OPTIONS');
    expect(table.match('/napt/')?.route('HEAD')).toBeNull();
  });

  it.each(['', '/', '/nap', '/napt//', '/napt/7/8', '/NAPT/', '/profile//bw_list/x'])(
    'has no route for %j',
    (path) => {
      expect(table.match(path)).toBeNull();
    },
  );
});
