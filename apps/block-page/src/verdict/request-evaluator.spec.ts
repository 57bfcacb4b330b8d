import { describe, expect, it } from 'vitest';
import { requestedName } from './request-evaluator.js';

describe('requestedName', () => {
  it.each([
    ['/', 'www.Example.COM', 'www.example.com'],
    ['/', 'example.com:8081', 'example.com'],
    ['/', 'example.com.', 'example.com'],
    ['/', 'bücher.example', null],
    // UTF-8, as Node gives it: each byte a character.
    ['/', 'b\u00c3\u00bccher.example', 'xn--bcher-kva.example'],
    ['/', 'localhost', 'localhost'],
    ['http://blocked.example/path?a=b', 'other.example', 'blocked.example'],
    ['HTTP://blocked.example:80', undefined, 'blocked.example'],
    ['/', undefined, null],
    ['/', '', null],
    ['/', ':80', null],
    ['/', '192.0.2.1', null],
    ['/', '192.0.2.1:80', null],
    ['/', '[2001:db8::1]:80', null],
    ['/', 'user@blocked.example', null],
    ['/', 'blocked.example/path', null],
    ['/', 'a b', null],
    ['/', '<script>', null],
    ['/', 'blocked.example, other.example', null],
    ['/', `${'a'.repeat(70)}.example`, null],
    ['/', 'a.'.repeat(5000), null],
    ['http://', 'blocked.example', null],
  ])('of target %s and Host %s is %s', (target, host, name) => {
    expect(requestedName(target, host)).toBe(name);
  });
});
